// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of fluid flows through a scenario's RDMA network, equal to those of its packets.
#pragma once

#include "paths.h"

#include "ns3_env/cpp/fluid/fluid-paths.h"

namespace ns3::env::rdma
{

class FluidPaths final : public env::FluidPaths
{
  public:
    /// The scenario must outlive it. \throws ScenarioError if links do not fit together.
    explicit FluidPaths(const Scenario& scenario);

    const Routing& GetRouting() const override { return m_paths.GetRouting(); }
    FluidPath OfFlow(const FlowSpec& spec, uint16_t sourcePort) const override;
    std::vector<Hops> OfStreams() const override;
    uint32_t StreamPacketBytes() const override
    {
        return m_scenario.payloadBytes + DATA_HEADER_BYTES;
    }

  private:
    const Scenario& m_scenario;
    Paths m_paths;
};

} // namespace ns3::env::rdma
