// SPDX-License-Identifier: GPL-2.0-or-later
// State of one flow in a network that chooses a path for each packet.
#pragma once

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/packet-order.h"
#include "ns3_env/cpp/routing/ecmp.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

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

    ~SteeredFlow()
    {
        for (std::atomic<Entry*>& first : m_memory)
        {
            for (Entry* entry = first; entry != nullptr;)
            {
                delete std::exchange(entry, entry->next);
            }
        }
    }

    SteeredFlow(SteeredFlow&&) = delete;

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

    /// Memory of the switch `node`; its version is 0 at first. Switches may call it concurrently, each for its own
    /// memory.
    Memory& At(bool answer, uint32_t node)
    {
        std::atomic<Entry*>& first = m_memory[answer];
        for (Entry* entry = first.load(std::memory_order_acquire); entry != nullptr;
             entry = entry->next)
        {
            if (entry->memory.node == node)
            {
                return entry->memory;
            }
        }
        auto* fresh = new Entry{{node, 0, 0, 0}, first.load(std::memory_order_relaxed)};
        while (!first.compare_exchange_weak(fresh->next, fresh, std::memory_order_release))
        {
        }
        return fresh->memory;
    }

    PacketOrder& Order() { return m_order; }

  private:
    struct Entry
    {
        Memory memory;
        Entry* next;
    };

    std::array<uint32_t, 2> m_target;
    std::array<FiveTuple, 2> m_tuple;
    std::array<std::atomic<Entry*>, 2> m_memory{}; ///< lists of a handful, which only grow
    PacketOrder m_order;
};

} // namespace ns3::env::rdma
