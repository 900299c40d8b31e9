// SPDX-License-Identifier: GPL-2.0-or-later
// TCP network of one episode with its flows, from its hosts to its records.
#include "tcp-episode.h"

#include "pcap.h"

#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/tcp/socket/congestion-ops.h"

namespace ns3::env::tcp
{

TcpEpisode::TcpEpisode(Scenario scenario, const TcpSettings& settings, FlowHook onCreate)
    : Episode(std::move(scenario), std::move(onCreate)),
      m_fabric(m_scenario, settings),
      m_streams(m_scenario, m_fabric)
{
    CheckEach(m_scenario, CheckController);
    Traces().over.ConnectWithoutContext(MakeCallback(&TcpEpisode::Count, this));
}

TcpEpisode::~TcpEpisode()
{
    ForgetFlows();
}

// --- the network as recorders see it -------------------------------------------------------------

void
TcpEpisode::ForEachPort(bool ofSwitches, const QueueVisitor& visit) const
{
    for (const Egress& egress : m_fabric.Egresses())
    {
        if (m_scenario.isSwitch[egress.node] == ofSwitches)
        {
            visit({.node = egress.node,
                   .port = egress.port,
                   .peer = egress.peer,
                   .rateBps = egress.rateBps,
                   .bytes = egress.egress->WaitingBytes(),
                   .txBytes = egress.egress->TxBytes(),
                   .stats = egress.egress->Stats()});
        }
    }
}

std::vector<std::pair<uint32_t, uint32_t>>
TcpEpisode::RouteOf(const Flow& flow) const
{
    const auto& connection = static_cast<const TcpFlow&>(flow);
    const FlowSpec& spec = connection.Spec();
    return PortsOf(m_fabric.Paths().Path(spec.source, spec.destination, connection.Tuple()));
}

RunTotals
TcpEpisode::Totals() const
{
    RunTotals totals;
    totals.packetsSent = m_flowPackets + m_streams.TransmittedPayload() / m_scenario.payloadBytes;
    for (const Egress& egress : m_fabric.Egresses())
    {
        totals.packetHops += egress.egress->TxPackets();
        totals.packetsLeft += egress.egress->QueuedPackets();
    }
    for (const LossRecord& record : m_fabric.LossRecords())
    {
        totals.droppedPackets += record.lost.packets;
    }
    totals.droppedPayload = m_fabric.DroppedPayload();
    totals.transmittedPayload = TransmittedByFlows() + m_streams.TransmittedPayload();
    totals.deliveredPayload = m_fabric.DeliveredPayload();
    return totals;
}

void
TcpEpisode::TraceWindowAndRate(const WindowAndRateCallback& report)
{
    Traces().created.ConnectWithoutContext(Callback<void, Flow&>(
        [report](Flow& flow)
        {
            static_cast<TcpFlow&>(flow).TraceWindowAndRate([report](const FlowState& state)
                                                           { report(state, NowPicos()); });
        }));
}

void
TcpEpisode::TraceEvents(const MarkCallback& marked, const PauseCallback&)
{
    Traces().created.ConnectWithoutContext(Callback<void, Flow&>(
        [this](Flow& flow) { m_marks.flowOf[static_cast<TcpFlow&>(flow).Tuple()] = flow.Id(); }));
    m_marks.marked = marked;
    for (const Egress& egress : m_fabric.Egresses())
    {
        egress.egress->Add(m_marks);
    }
}

void
TcpEpisode::Marks::OnMarked(const Port&, const Segment& segment)
{
    const auto flow = flowOf.find(segment.channel->tuple);
    if (flow != flowOf.end())
    {
        marked(flow->second);
    }
}

std::unique_ptr<Capture>
TcpEpisode::MakeCapture()
{
    return CaptureFrames(m_fabric, *m_scenario.pcap);
}

} // namespace ns3::env::tcp
