// SPDX-License-Identifier: GPL-2.0-or-later
// Shortest paths over the switches, their ECMP choice, and times along a path.
#pragma once

#include "ecmp.h"
#include "graph.h"

#include "ns3_env/cpp/run/scenario.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::env
{

/// The largest of any two hosts' paths.
struct PathExtremes
{
    Picos baseRtt{0};   ///< 2 * delays + one-way serialisation of one payload
    double bdpBytes{0}; ///< such an RTT * the slowest link of its path
    uint32_t switches{0};
};

/// The graph of a scenario and its shortest paths (by hops; hosts do not forward).
class Routing
{
  public:
    using OrderMaker = std::function<std::unique_ptr<NextHopOrder>(const Graph&)>;

    /// \throws ScenarioError for duplicate links, self-loops, hosts without exactly one link.
    explicit Routing(
        const Scenario& scenario,
        const OrderMaker& makeOrder = [](const Graph&)
        { return std::make_unique<NextHopOrder>(); });

    const std::vector<Neighbour>& Neighbours(uint32_t node) const
    {
        return m_graph.neighbours[node];
    }

    /// Links a packet takes from host `from` to host `to`: out of `from`, then out of each switch. If next hops are
    /// equal, the hash picks one of them in their order.
    /// \throws ScenarioError if there is no path, or more than MAX_PATH_SWITCHES.
    Hops Path(uint32_t from, uint32_t to, const FiveTuple& tuple) const;

    /// The neighbours of `node` through which a packet can reach the host `to`, in their order; empty if there is no
    /// path.
    std::vector<const Neighbour*> NextHops(uint32_t node, uint32_t to) const;

    /// Removes the link between two nodes, or restores it; hops returned before are invalid.
    void SetLink(uint32_t a, uint32_t b, bool up);

    /// The path of the base RTT for a flow on `path`.
    Hops MeasuredPath(const Hops& path) const;

    /// Over all shortest paths, or over those that speak for their pair of hosts.
    PathExtremes LargestOfPaths(uint32_t payloadBytes, Rounding rounding) const;

  private:
    static constexpr uint32_t NOWHERE = UINT32_MAX;
    static constexpr uint16_t UNREACHABLE = UINT16_MAX;

    /// Node that a host is linked to; NOWHERE while that link is down.
    uint32_t GateOf(uint32_t host) const
    {
        const auto& own = m_graph.neighbours[host];
        return own.empty() ? NOWHERE : own.front().node;
    }
    /// Links from each switch to the gate of some host. Nodes before the first switch, usually all hosts, need no
    /// memory.
    class Distances
    {
      public:
        bool IsEmpty() const { return m_links.empty(); }
        void Clear() { m_links.clear(); }
        /// All but the gate, at 0, become UNREACHABLE.
        void Begin(uint32_t gate, uint32_t firstSwitch, size_t nodes)
        {
            m_first = std::min(gate, firstSwitch);
            m_links.assign(nodes - m_first, UNREACHABLE);
            Set(gate, 0);
        }
        void Set(uint32_t node, uint16_t links) { m_links[node - m_first] = links; }
        uint16_t operator[](uint32_t node) const
        {
            return node < m_first ? UNREACHABLE : m_links[node - m_first];
        }

      private:
        uint32_t m_first{0};
        std::vector<uint16_t> m_links; ///< by node, from `m_first` on
    };

    const Distances& DistancesTo(uint32_t gate) const;
    /// Links from host to host, or UNREACHABLE.
    uint32_t Distance(uint32_t from, uint32_t to) const;
    /// Neighbours of `node` one hop nearer to the host `to`, in the order of the links.
    void NearerTo(uint32_t to, uint32_t node, std::vector<const Neighbour*>& hops) const;
    /// The part of a base RTT between two switches, and the slowest link there.
    struct Way
    {
        Picos time;
        double slowestBps;
    };
    using TimeOfLink = std::function<Picos(const Neighbour&)>;
    /// The slowest of the shortest paths from each switch to the gate of `to`.
    std::vector<Way> CostliestTo(uint32_t to, const TimeOfLink& timeOf) const;
    /// Arranges a node that has its neighbours.
    void Arrange(uint32_t node);

    Graph m_graph;
    std::vector<std::vector<uint32_t>>
        m_onward;                  ///< by node: indices of its neighbours that are switches
    std::vector<uint32_t> m_entry; ///< by host: its index among its gate's neighbours
    std::vector<std::pair<uint32_t, Neighbour>>
        m_missing; ///< by the node that has no such neighbour now
    std::unique_ptr<NextHopOrder> m_order;
    uint32_t m_firstSwitch{0};
    mutable std::vector<Distances> m_distances; ///< by gate, on demand
};

/// Store-and-forward links in a row; in two legs if each frame is answered on the reverse path.
class Pipeline
{
  public:
    /// The first frame may leave at time 0. The legs outlive this.
    explicit Pipeline(std::initializer_list<const Hops*> legs);

    /// `count` frames, of the given bytes on each leg, behind those before them.
    void Pass(std::initializer_list<uint64_t> bytesOnLegs, uint64_t count = 1);

    /// Time at which the last frame, or its answer, is at the end of the last leg; ps.
    Picos Arrival() const { return m_arrival; }

  private:
    std::vector<const Hops*> m_legs;
    std::vector<Picos> m_free; ///< when each link becomes idle
    Picos m_arrival{0};
};

} // namespace ns3::env
