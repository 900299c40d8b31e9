// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of fluid flows through a scenario's TCP network, equal to those of its segments.
#pragma once

#include "ns3_env/cpp/fluid/fluid-paths.h"
#include "ns3_env/cpp/run/scenario.h"
#include "ns3_env/cpp/tcp/network/tcp-path.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"

namespace ns3::env::tcp
{

class FluidPaths final : public env::FluidPaths
{
  public:
    /// The scenario must outlive it. \throws ScenarioError if links do not fit together
    FluidPaths(const Scenario& scenario, const TcpSettings& settings)
        : m_scenario(scenario),
          m_settings(settings),
          m_routing(scenario),
          m_maxBaseRtt(LargestBaseRtt(m_routing, settings))
    {
    }

    const Routing& GetRouting() const override { return m_routing; }
    FluidPath OfFlow(const FlowSpec& spec, uint16_t sourcePort) const override
    {
        const TcpPath path(m_routing, spec, TupleOf(spec, sourcePort), m_settings);
        return {path.Forward(),
                path.Facts(m_maxBaseRtt),
                spec.IsEndless() ? -1 : path.Standalone(spec.sizeBytes)};
    }
    std::vector<Hops> OfStreams() const override
    {
        std::vector<Hops> paths;
        for (const FiveTuple& tuple : StreamTuples(m_scenario))
        {
            const FlowSpec& spec = m_scenario.streams[paths.size()].flow;
            paths.push_back(m_routing.Path(spec.source, spec.destination, tuple));
        }
        return paths;
    }

    uint32_t StreamPacketBytes() const override
    {
        return StreamFrameBytes(m_scenario.payloadBytes);
    }

  private:
    const Scenario& m_scenario;
    TcpSettings m_settings;
    Routing m_routing;
    Picos m_maxBaseRtt;
};

} // namespace ns3::env::tcp
