// SPDX-License-Identifier: GPL-2.0-or-later
// Assignment of a network's nodes to its parts, and traffic between parts.
#pragma once

#include "ns3_env/cpp/events/parts.h"
#include "ns3_env/cpp/rdma/link/network-context.h"
#include "ns3_env/cpp/rdma/link/passage.h"
#include "ns3_env/cpp/rdma/link/port.h"
#include "ns3_env/cpp/run/dependencies-in-parts.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::env::rdma
{

/// A network's parts, each a few racks (a switch with its hosts) that are near each other.
struct Division
{
    std::vector<uint32_t> partOf; ///< by node id
    uint32_t count;
    Racks racks; ///< without a link between them their lookahead is 10 us
};

/// Divides a network into at least `parts` parts, if it has enough racks; nothing if a link between racks has no delay.
std::optional<Division> Divide(const Scenario& scenario, uint32_t parts);

/// The counts and stores of a network, one of each part, and the traffic between parts. An undivided network is one
/// part.
class PartContexts final : public PartExchange
{
  public:
    explicit PartContexts(uint32_t parts);

    /// All contexts.
    const std::vector<std::unique_ptr<NetworkContext>>& All() const { return m_contexts; }
    /// Packets from `from`, of part `source`, go to another part from now on.
    void AddPassage(Port& from, uint32_t source, uint32_t destination)
    {
        from.SendBy(m_passages[source], destination);
    }

    void Enter(uint32_t part) override;
    Picos Turn() override;

  private:
    void BalancePools();

    std::vector<std::unique_ptr<NetworkContext>> m_contexts;
    std::vector<Passage> m_passages;               ///< by source
    std::vector<std::vector<Passenger>> m_towards; ///< by destination: of the window before
};

} // namespace ns3::env::rdma
