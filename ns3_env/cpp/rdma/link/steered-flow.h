// SPDX-License-Identifier: GPL-2.0-or-later
// State of one flow in a network that chooses a way for each packet.
#ifndef NS3_ENV_RDMA_LINK_STEERED_FLOW_H
#define NS3_ENV_RDMA_LINK_STEERED_FLOW_H

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/packet-order.h"
#include "ns3_env/cpp/routing/ecmp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/// Ends of a flow, the ports that switches sent its last packets by, and the order in which its packets arrive.
class SteeredFlow
{
  public:
    SteeredFlow(uint32_t source, uint32_t destination, const FiveTuple& tuple)
        : m_target{destination, source},
          m_tuple{tuple, tuple.Reversed()}
    {
    }

    /// The port that a switch sent its last packet by.
    struct Memory
    {
        uint32_t node;
        uint32_t port; ///< among its NextHops
        uint64_t version;
        Picos seen;
    };

    /// \param answer whether it is of ACKs and NACKs, which go to the source
    uint32_t Target(bool answer) const { return m_target[answer]; }
    const FiveTuple& Tuple(bool answer) const { return m_tuple[answer]; }

    /// Of the switch `node`; its version is 0 at first.
    Memory& At(bool answer, uint32_t node)
    {
        auto& all = m_memory[answer];
        const auto at = std::find_if(all.begin(),
                                     all.end(),
                                     [node](const Memory& x) { return x.node == node; });
        return at != all.end() ? *at : all.emplace_back(Memory{node, 0, 0, 0});
    }

    PacketOrder& Order() { return m_order; }

  private:
    std::array<uint32_t, 2> m_target;
    std::array<FiveTuple, 2> m_tuple;
    std::array<std::vector<Memory>, 2> m_memory; ///< a handful
    PacketOrder m_order;
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_LINK_STEERED_FLOW_H
