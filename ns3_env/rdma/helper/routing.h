// SPDX-License-Identifier: GPL-2.0-or-later
// By which nodes does a flow travel? Shortest paths with ECMP over the scenario's graph.
#ifndef RDMA_ROUTING_H
#define RDMA_ROUTING_H

#include "scenario.h"

#include "ns3_env/rdma/model/ecmp.h"

#include <vector>

namespace ns3::rdma
{

/// One end of a link, as a node sees it.
struct Neighbour
{
    uint32_t node;
    uint32_t port; ///< index of the local port
    double rateBps;
    Picos delay;
};

/// The graph of a scenario and its shortest paths (by hops; hosts do not forward).
class Routing
{
  public:
    /// \throws ScenarioError for duplicate links, self-loops, hosts without exactly one link.
    explicit Routing(const Scenario& scenario);

    const std::vector<Neighbour>& Neighbours(uint32_t node) const { return m_neighbours[node]; }

    /**
     * Links a packet takes from host `from` to host `to`: out of `from`, then out of each switch.
     * Equal next hops stand in descending order of node id; the hash picks one.
     * \throws ScenarioError where there is no path, or more switches than telemetry can record.
     */
    std::vector<std::pair<uint32_t, const Neighbour*>>
    Path(uint32_t from, uint32_t to, const FiveTuple& tuple) const;

    /// RTT of one packet between the farthest hosts: 2 * delays + one-way serialisation of its payload.
    Picos MaxBaseRtt(uint32_t payloadBytes, Rounding rounding) const;

  private:
    const std::vector<uint16_t>& DistancesTo(uint32_t host) const;

    std::vector<bool> m_isSwitch;
    std::vector<std::vector<Neighbour>> m_neighbours;
    mutable std::vector<std::vector<uint16_t>> m_distances; ///< by destination, on demand
};

} // namespace ns3::rdma

#endif // RDMA_ROUTING_H
