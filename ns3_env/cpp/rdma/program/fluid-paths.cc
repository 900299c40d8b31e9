// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of fluid flows through a scenario's RDMA network, equal to those of its packets.
#include "fluid-paths.h"

#include "ns3_env/cpp/rdma/link/packet.h"

namespace ns3::env::rdma
{

FluidPaths::FluidPaths(const Scenario& scenario)
    : m_scenario(scenario),
      m_paths(scenario)
{
}

FluidPath
FluidPaths::OfFlow(const FlowSpec& spec, uint16_t sourcePort) const
{
    RoundTrip path = m_paths.Of(spec, sourcePort);
    PathFacts facts = m_paths.Describe(path);
    facts.packetBytes = facts.payloadBytes + DATA_HEADER_BYTES;
    const Picos standalone = m_paths.Standalone(spec, facts, path);
    return {std::move(path.forward), std::move(facts), standalone};
}

std::vector<Hops>
FluidPaths::OfStreams() const
{
    const std::vector<uint16_t> ports = StreamPorts(m_scenario);
    std::vector<Hops> paths;
    for (size_t i = 0; i < ports.size(); ++i)
    {
        paths.push_back(m_paths.Of(m_scenario.streams[i].flow, ports[i]).forward);
    }
    return paths;
}

} // namespace ns3::env::rdma
