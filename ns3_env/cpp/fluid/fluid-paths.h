// SPDX-License-Identifier: GPL-2.0-or-later
// Interface by which a transport gives a fluid the paths of its flows and streams.
#pragma once

#include "ns3_env/cpp/contract/path-facts.h"
#include "ns3_env/cpp/engine/flow-spec.h"
#include "ns3_env/cpp/routing/routing.h"

#include <cstdint>
#include <vector>

namespace ns3::env
{

/// The path of a flow, as the transport's packets would follow it.
struct FluidPath
{
    Hops hops;
    PathFacts facts;  ///< for packets without telemetry
    Picos standalone; ///< -1: endless
};

/// Paths through a scenario's network.
class FluidPaths
{
  public:
    virtual ~FluidPaths() = default;

    virtual const Routing& GetRouting() const = 0;
    /// \throws ScenarioError if there is no path
    virtual FluidPath OfFlow(const FlowSpec& spec, uint16_t sourcePort) const = 0;
    /// Paths of the scenario's streams. \throws ScenarioError if there is no path
    virtual std::vector<Hops> OfStreams() const = 0;
    /// Bytes of a stream's full packet on the wire.
    virtual uint32_t StreamPacketBytes() const = 0;
};

} // namespace ns3::env
