// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA network of one episode with its flows, from its hosts to its records.
#include "rdma-episode.h"

#include "pause-circle.h"
#include "pcap.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/constant-rate.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/rdma/classes/build-classes.h"
#include "ns3_env/cpp/rdma/references/clairvoyant.h"
#include "ns3_env/cpp/run/attributes.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace ns3::env::rdma
{

Streams::Streams(const Scenario& scenario, const Fabric& fabric)
    : m_fabric(fabric),
      m_ports(StreamPorts(scenario))
{
    for (size_t i = 0; i < scenario.streams.size(); ++i)
    {
        const StreamEntry& entry = scenario.streams[i];
        m_streams.push_back(m_fabric.Connect(entry.flow, m_ports[i], CreateObject<Uncontrolled>()));
        m_streams.back()->SetOpenLoop(entry.rateBps, entry.stop);
    }
}

void
Streams::Schedule()
{
    for (const auto& stream : m_streams)
    {
        Simulator::ScheduleWithContext(stream->Sender().NodeId(),
                                       Time(stream->StartTime()),
                                       [this, pair = stream.get()]
                                       { m_fabric.Rules().Start([pair] { pair->Start(); }); });
    }
}

StreamCounts
Streams::Of(size_t stream) const
{
    const QueuePair& pair = *m_streams[stream];
    return {pair.TransmittedBytes(), pair.ReceivedBytes(), pair.LostBytes()};
}

uint64_t
Streams::TransmittedPayload() const
{
    uint64_t bytes = 0;
    for (const auto& stream : m_streams)
    {
        bytes += stream->TransmittedBytes();
    }
    return bytes;
}

namespace
{

/// The maximum number of concurrent flows, by receiving node.
std::map<uint32_t, int>
MostTogether(const RdmaEpisode& network)
{
    std::map<uint32_t, std::vector<std::pair<Picos, int>>> steps; // ends before starts
    for (const FlowEntry& entry : network.GetScenario().flows)
    {
        const FlowSpec& flow = entry.flow;
        const Picos end = network.Records()[flow.id].end;
        if (flow.start < network.EndTime())
        {
            steps[flow.destination].emplace_back(flow.start, 1);
            steps[flow.destination].emplace_back(end < 0 ? network.EndTime() : end, -1);
        }
    }
    std::map<uint32_t, int> most;
    for (auto& [node, changes] : steps)
    {
        std::sort(changes.begin(), changes.end());
        int now = 0;
        for (const auto& [time, step] : changes)
        {
            now += step;
            most[node] = std::max(most[node], now);
        }
    }
    return most;
}

/// State that parts would share, so that the scenario runs as a whole; "" if they share nothing.
std::string
SharedByParts(const Scenario& scenario)
{
    if (scenario.published)
    {
        return "the published preset";
    }
    if (scenario.portAgents)
    {
        return "the policy that sets thresholds of ports";
    }
    if (scenario.scheduling != Scheduling::Fifo)
    {
        return "switches that know what is left of each flow";
    }
    if (scenario.recordWindows || scenario.recordEvents || scenario.recordControllerState ||
        scenario.recordControllerCounters || scenario.recordTransitions || scenario.pcap)
    {
        return "what is recorded as it happens";
    }
    if (scenario.dependencies && scenario.dependencies->HasChoices())
    {
        return "flows that start after any of several";
    }
    for (const ControllerSpec& spec : scenario.controllers)
    {
        if (!CreateController(spec)->IsThreadSafe())
        {
            return "the controller " + spec.name;
        }
    }
    return {};
}

/// Division of the scenario into parts; nothing if not wanted, or not possible.
std::optional<Division>
DivisionOf(const Scenario& scenario)
{
    if (!scenario.threads || !SharedByParts(scenario).empty())
    {
        return std::nullopt;
    }
    return Divide(scenario, *scenario.threads);
}

} // namespace

std::string
RdmaEpisode::Warning() const
{
    if (const PauseCircle circle = FindPauseCircle(); !circle.ports.empty())
    {
        return circle.Text();
    }
    if (GetScenario().threads.value_or(1) > 1 && !m_fabric.IsDivided())
    {
        const std::string shared = SharedByParts(GetScenario());
        return "'simulator.threads': the network is played as a whole, on one thread, because of " +
               (shared.empty() ? "switches without a delay between them" : shared);
    }
    const std::optional<double> least = GetScenario().minRateBps;
    if (!least)
    {
        return {};
    }
    for (const auto& [node, flows] : MostTogether(*this))
    {
        const double rate = Nics()[node]->LinkRateBps();
        if (flows * *least > rate)
        {
            std::ostringstream text;
            text << "'min_rate_bps': " << flows << " flows x " << *least
                 << " bit/s = " << flows * *least << " bit/s exceed the link of host " << node
                 << ", " << rate << " bit/s: its queue cannot empty; " << rate / flows
                 << " would do";
            return text.str();
        }
    }
    return {};
}

PauseCircle
RdmaEpisode::FindPauseCircle() const
{
    return rdma::FindPauseCircle(m_fabric, m_scenario);
}

RdmaEpisode::RdmaEpisode(Scenario scenario, FlowHook onCreate)
    : Episode(std::move(scenario), std::move(onCreate)),
      m_fabric(m_scenario, DivisionOf(m_scenario)),
      m_streams(m_scenario, m_fabric)
{
    CheckEach(m_scenario, CreateController);
    if (m_scenario.paths && !m_scenario.paths->outages.empty())
    {
        m_failures = std::make_unique<Failures>(m_fabric, *m_scenario.paths);
    }
    if (m_scenario.portAgents)
    {
        MeterPorts(*m_scenario.portAgents);
    }
}

void
RdmaEpisode::MeterPorts(const PortAgents& agents)
{
    for (const auto& [id, sw] : Switches())
    {
        for (const auto& port : sw->Ports())
        {
            if (std::ranges::find(agents.links, std::pair(id, port->Peer().NodeId())) !=
                agents.links.end())
            {
                m_meters.push_back(std::make_unique<PortMeter>(*port));
            }
        }
    }
}

std::vector<MarkingPort*>
RdmaEpisode::PortsUnderAgents() const
{
    std::vector<MarkingPort*> ports;
    for (const auto& meter : m_meters)
    {
        ports.push_back(meter.get());
    }
    return ports;
}

RdmaEpisode::~RdmaEpisode()
{
    ForgetFlows();
}

std::unique_ptr<Flow>
RdmaEpisode::Connect(const FlowEntry& entry, uint16_t sourcePort)
{
    const Ptr<CongestionControl> control =
        CreateController(m_scenario.controllers[entry.controller]);
    std::unique_ptr<QueuePair> pair = m_fabric.Connect(entry.flow, sourcePort, control);
    if (auto* clairvoyant = dynamic_cast<Clairvoyant*>(PeekPointer(control)))
    {
        const Order order = clairvoyant->GetOrder();
        clairvoyant->Join(m_schedules.try_emplace(order, *this, order).first->second, *pair);
    }
    return pair;
}

std::unique_ptr<QueuePair>
RdmaEpisode::ConnectOther(const FlowSpec& spec, uint16_t sourcePort) const
{
    auto carrier = m_fabric.Connect(spec, sourcePort, CreateObject<Uncontrolled>());
    carrier->SetOpenLoop(1, NEVER); // without answers, and not counted by switches
    return carrier;
}

void
RdmaEpisode::StartFlow(Flow& flow)
{
    if (m_fabric.IsDivided())
    {
        const uint32_t node = static_cast<QueuePair&>(flow).Sender().NodeId();
        Simulator::ScheduleWithContext(node,
                                       Time(flow.StartTime() - NowPicos()),
                                       [&flow] { flow.Start(); });
        return;
    }
    m_fabric.Rules().Start([&flow] { flow.Start(); });
}

void
RdmaEpisode::OnRunBegins()
{
    m_streams.Schedule();
    if (m_failures)
    {
        m_failures->Schedule();
    }
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
            FinishClassRecords(*port, m_scenario.classes, EndTime());
        }
    }
}

void
RdmaEpisode::ForEachQueue(const QueueVisitor& visit) const
{
    const Picos now = NowPicos();
    for (const auto& [id, sw] : m_fabric.Switches())
    {
        for (const auto& port : sw->Ports())
        {
            visit({.node = id,
                   .port = port->Index(),
                   .peer = port->Peer().NodeId(),
                   .rateBps = port->LinkRateBps(),
                   .bytes = port->QueueBytes(),
                   .txBytes = port->TxBytes(),
                   .paused = port->PausedTime(now),
                   .pauseFrames = port->PauseFramesReceived(),
                   .pauseFramesSent = port->PauseFramesSent(),
                   .stats = port->Stats(),
                   .classes = QueuesOfClasses(*port, m_scenario.classes, now),
                   .pauseStorms = port->PauseStorms(),
                   .stormTime = port->StormTime(now)});
        }
    }
}

void
RdmaEpisode::ForEachHostPort(const QueueVisitor& visit) const
{
    const Picos now = NowPicos();
    for (const auto& nic : Nics())
    {
        if (nic)
        {
            visit({.node = nic->NodeId(),
                   .port = nic->Index(),
                   .peer = nic->Peer().NodeId(),
                   .rateBps = nic->LinkRateBps(),
                   .txBytes = nic->TxBytes(),
                   .paused = nic->PausedTime(now),
                   .pauseFrames = nic->PauseFramesReceived(),
                   .pauseFramesSent = nic->PauseFramesSent()});
        }
    }
}

std::vector<std::pair<uint32_t, uint32_t>>
RdmaEpisode::RouteOf(const Flow& flow) const
{
    const uint32_t source = m_scenario.flows[flow.Id()].flow.source;
    std::vector<std::pair<uint32_t, uint32_t>> route{{source, 0}};
    for (const SwitchPort* port : static_cast<const QueuePair&>(flow).Forward())
    {
        route.emplace_back(port->NodeId(), port->Index());
    }
    return route;
}

std::vector<LossRecord>
RdmaEpisode::LossRecords() const
{
    std::vector<LossRecord> records;
    for (const Port* port : Ports())
    {
        AddLosses(records, port->NodeId(), port->Index(), port->Peer().NodeId(), port->Lost());
    }
    return records;
}

RunTotals
RdmaEpisode::Totals() const
{
    RunTotals totals;
    for (const auto& context : m_fabric.Contexts())
    {
        totals.packetsSent += context->packetsSent;
        totals.packetHops += context->packetHops;
        totals.droppedPackets += context->droppedPackets;
        totals.droppedPayload += context->droppedPayload;
        totals.packetsLeft += context->pool.LiveCount();
        totals.pauseFrames += context->pfcFrames;
        totals.notificationFrames += context->notifications;
    }
    totals.transmittedPayload = TransmittedPayload();
    totals.deliveredPayload = DeliveredPayload();
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

std::unique_ptr<Capture>
RdmaEpisode::MakeCapture()
{
    return CaptureFrames(*this, *m_scenario.pcap);
}

} // namespace ns3::env::rdma
