// SPDX-License-Identifier: GPL-2.0-or-later
#include "network.h"

#include "controller-factory.h"

#include "ns3_env/rdma/model/sign-of-life.h"

namespace ns3::rdma
{

Network::Network(Scenario scenario, FlowHook onCreate)
    : FlowRun(std::move(scenario), std::move(onCreate)),
      m_fabric(m_scenario),
      m_streams(m_scenario, m_fabric)
{
    for (const ControllerSpec& spec : m_scenario.controllers)
    {
        CreateController(spec); // a bad name or attribute is an error now, not when the flow starts
    }
}

Network::~Network()
{
    ForgetFlows();
}

std::unique_ptr<LiveFlow>
Network::Connect(const FlowEntry& entry, uint16_t sourcePort)
{
    return m_fabric.Connect(entry.flow,
                            sourcePort,
                            CreateController(m_scenario.controllers[entry.controller]));
}

Picos
Network::Standalone(const FlowSpec& flow, const PathFacts& path) const
{
    // base RTT + bytes and headers at the slowest link (docs/sources/published-simulator.md, "Sender")
    const uint64_t packets = (flow.sizeBytes + path.payloadBytes - 1) / path.payloadBytes;
    return path.baseRtt +
           IdealTime(flow.sizeBytes + DATA_HEADER_BYTES * packets, path.slowestBps, path.rounding);
}

void
Network::StartFlow(LiveFlow& flow)
{
    m_fabric.Rules().Start([&flow] { flow.Start(); });
}

void
Network::OnRunBegins()
{
    m_streams.Schedule();
}

void
Network::OnRunEnds()
{
    for (auto& [id, sw] : m_fabric.Switches())
    {
        for (const auto& port : sw->Ports())
        {
            if (port->Stats() != nullptr)
            {
                port->Stats()->Finish(EndTime());
            }
        }
    }
}

void
Network::ForEachQueue(const QueueVisitor& visit) const
{
    for (const auto& [id, sw] : m_fabric.Switches())
    {
        SignOfLife::Beat();
        for (const auto& port : sw->Ports())
        {
            visit({.node = id,
                   .port = port->Index(),
                   .bytes = port->QueueBytes(),
                   .txBytes = port->TxBytes(),
                   .stats = port->Stats()});
        }
    }
}

uint64_t
Network::TransmittedPayload() const
{
    return TransmittedByFlows() + m_streams.TransmittedPayload();
}

} // namespace ns3::rdma
