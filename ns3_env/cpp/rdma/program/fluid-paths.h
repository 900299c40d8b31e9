// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of fluid flows through a scenario's RDMA network, equal to those of its packets.
#pragma once

#include "paths.h"

#include "ns3_env/cpp/fluid/fluid-paths.h"
#include "ns3_env/cpp/rdma/link/packet.h"

namespace ns3::env::rdma
{

class FluidPaths final : public env::FluidPaths
{
  public:
    /// The scenario must outlive it. \throws ScenarioError if links do not fit together.
    explicit FluidPaths(const Scenario& scenario)
        : m_scenario(scenario),
          m_paths(scenario)
    {
    }

    const Routing& GetRouting() const override { return m_paths.GetRouting(); }
    FluidPath OfFlow(const FlowSpec& spec, uint16_t sourcePort) const override
    {
        RoundTrip path = m_paths.Of(spec, sourcePort);
        PathFacts facts = m_paths.Describe(path);
        facts.packetBytes = facts.payloadBytes + DATA_HEADER_BYTES;
        const Picos standalone = m_paths.Standalone(spec, facts, path);
        return {std::move(path.forward), std::move(facts), standalone};
    }

    std::vector<Hops> OfStreams() const override
    {
        const std::vector<uint16_t> ports = StreamPorts(m_scenario);
        std::vector<Hops> paths;
        for (size_t i = 0; i < ports.size(); ++i)
        {
            paths.push_back(m_paths.Of(m_scenario.streams[i].flow, ports[i]).forward);
        }
        return paths;
    }

    uint32_t StreamPacketBytes() const override
    {
        return m_scenario.payloadBytes + DATA_HEADER_BYTES;
    }

  private:
    const Scenario& m_scenario;
    Paths m_paths;
};

} // namespace ns3::env::rdma
