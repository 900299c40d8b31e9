// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA network of one episode with its flows, from its hosts to its records.
#include "rdma-episode.h"

#include "pcap.h"
#include "rate-check.h"

#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/engine/now.h"
#include "ns3_env/cpp/run/controller-factory.h"

namespace ns3::env::rdma
{

RdmaEpisode::RdmaEpisode(Scenario scenario, FlowHook onCreate)
    : Episode(std::move(scenario), std::move(onCreate)),
      m_fabric(m_scenario),
      m_streams(m_scenario, m_fabric)
{
    for (size_t i = 0; i < m_scenario.controllers.size(); ++i)
    {
        // A bad name or attribute is an error now, not when the flow starts.
        Within(ControllerKey(i), [&] { CreateController(m_scenario.controllers[i]); });
    }
}

RdmaEpisode::~RdmaEpisode()
{
    ForgetFlows();
}

std::unique_ptr<Flow>
RdmaEpisode::Connect(const FlowEntry& entry, uint16_t sourcePort)
{
    return m_fabric.Connect(entry.flow,
                            sourcePort,
                            CreateController(m_scenario.controllers[entry.controller]));
}

void
RdmaEpisode::StartFlow(Flow& flow)
{
    m_fabric.Rules().Start([&flow] { flow.Start(); });
}

void
RdmaEpisode::OnRunBegins()
{
    m_streams.Schedule();
}

void
RdmaEpisode::OnRunEnds()
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
RdmaEpisode::ForEachQueue(const QueueVisitor& visit) const
{
    const Picos now = NowPicos();
    for (const auto& [id, sw] : m_fabric.Switches())
    {
        Heartbeat::Beat();
        for (const auto& port : sw->Ports())
        {
            visit({.node = id,
                   .port = port->Index(),
                   .peer = port->Peer().NodeId(),
                   .rateBps = port->RateBps(),
                   .bytes = port->QueueBytes(),
                   .txBytes = port->TxBytes(),
                   .paused = port->PausedTime(now),
                   .pauseFrames = port->PauseFramesReceived(),
                   .pauseFramesSent = port->PauseFramesSent(),
                   .stats = port->Stats()});
        }
    }
}

std::vector<LossRecord>
RdmaEpisode::LossRecords() const
{
    std::vector<LossRecord> records;
    for (const Port* port : Ports())
    {
        Heartbeat::Beat();
        for (const LossCause cause : LOSS_CAUSES)
        {
            const Losses& lost = port->Lost().By(cause);
            if (lost.packets > 0)
            {
                records.push_back(
                    {port->NodeId(), port->Index(), port->Peer().NodeId(), cause, lost});
            }
        }
    }
    return records;
}

RunTotals
RdmaEpisode::Totals() const
{
    const NetworkContext& context = Context();
    RunTotals totals;
    totals.packetsSent = context.packetsSent;
    totals.packetHops = context.packetHops;
    totals.droppedPackets = context.droppedPackets;
    totals.droppedPayload = context.droppedPayload;
    totals.transmittedPayload = TransmittedPayload();
    totals.deliveredPayload = DeliveredPayload();
    totals.packetsLeft = context.pool.LiveCount();
    totals.pauseFrames = context.pfcFrames;
    totals.notificationFrames = context.notifications;
    for (const auto& nic : Nics())
    {
        totals.hostPauseNs += nic ? static_cast<double>(nic->PausedTime(EndTime())) / PS_PER_NS : 0;
    }
    return totals;
}

void
RdmaEpisode::TraceWindowAndRate(const WindowAndRateCallback& report)
{
    for (const auto& nic : Nics())
    {
        if (nic)
        {
            nic->TraceConnectWithoutContext("WindowAndRate", report);
        }
    }
}

void
RdmaEpisode::TraceEvents(const MarkCallback& marked, const PauseCallback& paused)
{
    for (Port* port : Ports())
    {
        port->TraceConnectWithoutContext(
            "Pause",
            Callback<void, bool>([paused, node = port->NodeId(), index = port->Index()](bool on)
                                 { paused(node, index, on); }));
    }
    for (const auto& [id, sw] : Switches())
    {
        for (const auto& port : sw->Ports())
        {
            port->TraceConnectWithoutContext(
                "Mark",
                Callback<void, const Packet&>([marked](const Packet& packet)
                                              { marked(packet.flow->Id()); }));
        }
    }
}

std::string
RdmaEpisode::Warning() const
{
    return LeastRateWarning(*this);
}

std::unique_ptr<Capture>
RdmaEpisode::MakeCapture()
{
    return std::make_unique<PcapRecorder>(*this, *m_scenario.pcap);
}

uint64_t
RdmaEpisode::TransmittedPayload() const
{
    return TransmittedByFlows() + m_streams.TransmittedPayload();
}

} // namespace ns3::env::rdma
