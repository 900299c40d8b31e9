// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of fluid flows through a scenario's TCP network, equal to those of its segments.
#pragma once

#include "ns3_env/cpp/fluid/fluid-paths.h"
#include "ns3_env/cpp/run/scenario.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"

namespace ns3::env::tcp
{

class FluidPaths final : public env::FluidPaths
{
  public:
    /// The scenario must outlive it. \throws ScenarioError if links do not fit together
    FluidPaths(const Scenario& scenario, const TcpSettings& settings);

    const Routing& GetRouting() const override { return m_routing; }
    FluidPath OfFlow(const FlowSpec& spec, uint16_t sourcePort) const override;
    std::vector<Hops> OfStreams() const override;
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
