// SPDX-License-Identifier: GPL-2.0-or-later
// TCP's part of a scenario and of the program tcp-sim.
#include "tcp-transport.h"

#include "controller-description.h"
#include "read-settings.h"
#include "tcp-episode.h"

#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/tcp/network/congestion-ops.h"

namespace ns3::env::tcp
{

std::string
TcpTransport::Name() const
{
    return "tcp";
}

std::string
TcpTransport::Title() const
{
    return "TCP";
}

std::vector<std::string>
TcpTransport::Controllers() const
{
    return ListControllers();
}

std::string
TcpTransport::Describe() const
{
    return DescribeControllers();
}

void
TcpTransport::ReadKeys(JsonReader& root, Scenario& scenario)
{
    scenario.inBandTelemetry = false;
    m_settings = ReadSettings(root.Sub("tcp"));
    m_settings.segmentBytes = scenario.payloadBytes;
}

std::unique_ptr<Episode>
TcpTransport::Build(Scenario scenario, Episode::FlowHook onCreate)
{
    return std::make_unique<TcpEpisode>(std::move(scenario), m_settings, std::move(onCreate));
}

} // namespace ns3::env::tcp
