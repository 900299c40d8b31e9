// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of a scenario's flows, and their facts before the first packets.
#pragma once

#include "ns3_env/cpp/rdma/switch/network-rules.h"
#include "ns3_env/cpp/routing/routing.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::env::rdma
{

/// A path there and the one back.
struct RoundTrip
{
    Hops forward;
    Hops backward;
};

/// The rules of a scenario's network, and the paths by them. The scenario must outlive it.
class Paths
{
  public:
    /// \throws ScenarioError if links do not fit together.
    explicit Paths(const Scenario& scenario);

    const NetworkRules& Rules() const { return *m_rules; }
    const Routing& GetRouting() const { return m_routing; }
    const PathExtremes& Extremes() const { return m_extremes; }

    /// Five-tuple that switches hash for a flow's data.
    static FiveTuple TupleOf(const FlowSpec& spec, uint16_t sourcePort);
    /// \throws ScenarioError if there is no path.
    RoundTrip Of(const FlowSpec& spec, uint16_t sourcePort) const;
    /// All facts but the bytes of a packet, which depend on the controller.
    PathFacts Describe(const RoundTrip& path) const;
    /// Standalone completion time of a flow, -1 for an endless one; over all its paths if its packets may use several.
    Picos Standalone(const FlowSpec& spec, const PathFacts& facts, const RoundTrip& path) const;

  private:
    void Measure(const Hops& path, PathFacts& facts) const;
    /// One direction of a flow: a shortest path, or two by way of a host's switch.
    Hops PathOf(uint32_t from, uint32_t to, const FiveTuple& tuple) const;

    const Scenario& m_scenario;
    std::vector<uint32_t> m_detours; ///< hosts whose switches paths go by; empty without detours
    std::unique_ptr<const NetworkRules> m_rules;
    Routing m_routing;
    bool m_isSpread;
    PathExtremes m_extremes;
};

/// The source ports of a scenario's streams.
std::vector<uint16_t> StreamPorts(const Scenario& scenario);

} // namespace ns3::env::rdma
