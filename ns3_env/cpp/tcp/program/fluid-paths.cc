// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of fluid flows through a scenario's TCP network, equal to those of its segments.
#include "fluid-paths.h"

#include "ns3_env/cpp/tcp/network/tcp-path.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"

namespace ns3::env::tcp
{

FluidPaths::FluidPaths(const Scenario& scenario, const TcpSettings& settings)
    : m_scenario(scenario),
      m_settings(settings),
      m_routing(scenario),
      m_maxBaseRtt(LargestBaseRtt(m_routing, settings))
{
}

FluidPath
FluidPaths::OfFlow(const FlowSpec& spec, uint16_t sourcePort) const
{
    const TcpPath path(m_routing, spec, TupleOf(spec, sourcePort), m_settings);
    return {path.Forward(),
            path.Facts(m_maxBaseRtt),
            spec.IsEndless() ? -1 : path.Standalone(spec.sizeBytes)};
}

std::vector<Hops>
FluidPaths::OfStreams() const
{
    std::vector<Hops> paths;
    for (const FiveTuple& tuple : StreamTuples(m_scenario))
    {
        const FlowSpec& spec = m_scenario.streams[paths.size()].flow;
        paths.push_back(m_routing.Path(spec.source, spec.destination, tuple));
    }
    return paths;
}

} // namespace ns3::env::tcp
