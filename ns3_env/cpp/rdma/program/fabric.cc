// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts, switches and links of a scenario, and the paths of flows through them.
#include "fabric.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/rdma/classes/build-classes.h"
#include "ns3_env/cpp/rdma/classes/class-nic.h"
#include "ns3_env/cpp/rdma/classes/class-switch.h"
#include "ns3_env/cpp/rdma/host/least-remaining.h"
#include "ns3_env/cpp/rdma/switch/steered-port.h"
#include "ns3_env/cpp/rdma/switch/watched-port.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::env::rdma
{

namespace
{

constexpr double LONGEST_DRAIN_S = 4e3; // a time beyond any simulation is never waited for

constexpr Picos DEFAULT_FLOW_TIMEOUT = 1'000'000 * PS_PER_NS;

} // namespace

Fabric::Fabric(const Scenario& scenario, const std::optional<Division>& division)
    : m_scenario(scenario),
      m_paths(m_scenario),
      m_division(division),
      m_contexts(division ? division->count : 1)
{
    CheckClasses(m_scenario);
    RngSeedManager::SetRun(m_scenario.seed); // an episode's seed is the run number
    SetUpContexts();
    if (m_scenario.paths)
    {
        m_steering = std::make_unique<Steering>(
            *m_scenario.paths,
            Routing(m_scenario,
                    [this](const Graph& graph) { return Rules().MakeNextHopOrder(graph); }),
            m_scenario.isSwitch.size(),
            [this](uint32_t node, uint32_t port) -> SwitchPort&
            { return *m_switchOf[node]->Ports()[port]; });
        if (IsDivided())
        {
            m_steering->DivideRandom(m_scenario.seed);
        }
    }
    BuildNodes();
    ConfigureSwitches();
    m_timeout = m_scenario.retransmissionTimeout.value_or(DefaultTimeout());
}

void
Fabric::SetUpContexts()
{
    for (const auto& context : m_contexts.All())
    {
        context->rounding = Rules().GetRounding();
        context->linkEvents = IsDivided() ? LinkEvents::MergedByPort : Rules().GetLinkEvents();
    }
    if (!IsDivided())
    {
        Context().random = Rules().MakeRandomSource(m_scenario.isSwitch.size());
        EventLoop::FitGrain(m_scenario.payloadBytes,
                            m_scenario.FastestBps(),
                            m_scenario.links.size());
        return;
    }
    auto parts = std::make_unique<Parts>(m_division->partOf,
                                         m_division->count,
                                         m_scenario.threads.value_or(1),
                                         m_division->racks.lookahead);
    double hostBps = 0; // the event rate of a part depends on its hosts
    for (const LinkSpec& link : m_scenario.links)
    {
        const bool ofHost = !m_scenario.isSwitch[link.a] || !m_scenario.isSwitch[link.b];
        hostBps = std::max(hostBps, ofHost ? link.rateBps : 0.0);
    }
    for (uint32_t part = 0; part < parts->Count(); ++part)
    {
        m_contexts.All()[part]->portSeed = m_scenario.seed;
        parts->Of(part).FitPart(m_scenario.payloadBytes, hostBps, m_division->racks.lookahead);
    }
    EventLoop::Divide(std::move(parts), m_contexts);
}

Port&
Fabric::PortAt(uint32_t node, uint32_t port) const
{
    if (m_scenario.isSwitch[node])
    {
        return *m_switchOf[node]->Ports()[port];
    }
    return *m_nics[node];
}

std::vector<Port*>
Fabric::Ports() const
{
    std::vector<Port*> ports;
    for (uint32_t node = 0; node < m_switchOf.size(); ++node)
    {
        const size_t count = m_switchOf[node] ? m_switchOf[node]->Ports().size() : 1;
        for (uint32_t port = 0; port < count; ++port)
        {
            ports.push_back(&PortAt(node, port));
        }
    }
    return ports;
}

template <class Kind, class Owner>
Ptr<SwitchPort>
Fabric::MakePort(Owner& owner, uint32_t id) const
{
    const auto index = static_cast<uint32_t>(owner.Ports().size());
    if (m_steering)
    {
        return CreateObject<Steered<Kind>>(ContextOf(id), owner, id, index, *m_steering);
    }
    return CreateObject<Kind>(ContextOf(id), owner, id, index);
}

template <class Kind, class Owner>
void
Fabric::AddPort(Owner& owner, uint32_t id)
{
    owner.AddPort(m_scenario.watchdog ? MakePort<Watched<Kind>>(owner, id)
                                      : MakePort<Kind>(owner, id));
}

void
Fabric::AddPort(uint32_t id)
{
    Switch& sw = *m_switchOf[id];
    if (!m_scenario.classes.empty())
    {
        AddPort<ClassPort>(static_cast<ClassSwitch&>(sw), id);
    }
    else if (m_scenario.scheduling == Scheduling::LeastRemaining) // not steered (ReadPaths)
    {
        const auto index = static_cast<uint32_t>(sw.Ports().size());
        sw.AddPort(CreateObject<LeastRemainingPort>(ContextOf(id), sw, id, index));
    }
    else
    {
        AddPort<SwitchPort>(sw, id);
    }
}

void
Fabric::BuildNodes()
{
    const auto count = static_cast<uint32_t>(m_scenario.isSwitch.size());
    m_nics.resize(count);
    m_switchOf.resize(count);
    SharedBufferConfig buffer = m_scenario.buffer;
    if (m_scenario.scheduling == Scheduling::LeastRemaining)
    {
        buffer.bufferBytes = UNBOUNDED_BYTES;
        buffer.pfc = false;
    }
    buffer.sharing = Rules().GetPoolSharing(buffer.pfc);
    for (uint32_t id = 0; id < count; ++id)
    {
        Heartbeat::Beat();
        if (m_scenario.isSwitch[id])
        {
            m_switchOf[id] = MakeSwitch(id, buffer);
            m_switches.emplace_back(id, m_switchOf[id]);
            for (size_t i = 0; i < m_paths.GetRouting().Neighbours(id).size(); ++i)
            {
                AddPort(id);
            }
        }
        else
        {
            m_nics[id] = MakeNic(id);
        }
    }
    // Ports are numbered in the order of the links at each node, which is how Routing numbers them.
    std::vector<uint32_t> used(count, 0);
    for (const LinkSpec& link : m_scenario.links)
    {
        Port& a = PortAt(link.a, used[link.a]++);
        Port& b = PortAt(link.b, used[link.b]++);
        Port::Connect(a, b, link.rateBps, link.delay);
        if (IsDivided() && m_division->partOf[link.a] != m_division->partOf[link.b])
        {
            m_contexts.AddPassage(a, m_division->partOf[link.a], m_division->partOf[link.b]);
            m_contexts.AddPassage(b, m_division->partOf[link.b], m_division->partOf[link.a]);
        }
        a.SetLoss(m_scenario.CorruptionOf(link.a, link.b));
        b.SetLoss(m_scenario.CorruptionOf(link.b, link.a));
        for (Port* end : {&a, &b})
        {
            if (const auto* own = m_scenario.ScheduleOf(end->NodeId(), end->Peer().NodeId()))
            {
                end->SetSchedule(*own);
            }
        }
    }
}

void
Fabric::ConfigureSwitches()
{
    double hostRate = 0;
    for (const auto& nic : m_nics)
    {
        hostRate = nic ? std::max(hostRate, nic->RateBps()) : hostRate;
    }
    const Picos counted = m_scenario.CountedFrom();
    for (auto& [id, sw] : m_switches)
    {
        sw->ConfigureBuffer(Rules(), hostRate, FrameBytes());
        CheckBuffer(id, *sw);
        for (const auto& port : sw->Ports())
        {
            port->Configure(Rules().MakeMarker(m_scenario.ecn, port->RateBps(), port->Random()),
                            Rules().TelemetryUnit(hostRate, FrameBytes()));
            if (m_scenario.flowTimeout || m_steering) // an exact count is of a flow's one path
            {
                port->CountRecentFlows(m_scenario.flowTimeout.value_or(DEFAULT_FLOW_TIMEOUT));
            }
            if (m_scenario.congestionPoints.enabled)
            {
                port->EnableCongestionPoint(m_scenario.congestionPoints);
            }
            if (m_scenario.recordQueues)
            {
                port->RecordQueue(counted);
            }
            if (m_scenario.trimming)
            {
                port->Trim();
            }
            if (m_scenario.watchdog)
            {
                port->StartWatchdog(*m_scenario.watchdog);
            }
            if (!m_scenario.isSwitch[port->Peer().NodeId()])
            {
                port->CountOrder();
            }
            if (!m_scenario.classes.empty())
            {
                ConfigureClasses(*port, Rules(), m_scenario);
            }
        }
    }
}

Ptr<Switch>
Fabric::MakeSwitch(uint32_t id, const SharedBufferConfig& buffer)
{
    if (!m_scenario.classes.empty())
    {
        return CreateObject<ClassSwitch>(ContextOf(id), buffer, m_scenario.classes, FrameBytes());
    }
    return CreateObject<Switch>(ContextOf(id), buffer);
}

Ptr<Nic>
Fabric::MakeNic(uint32_t id)
{
    if (!m_scenario.classes.empty())
    {
        return CreateObject<ClassNic>(ContextOf(id), id, m_scenario.classes, FrameBytes());
    }
    return m_scenario.scheduling == Scheduling::LeastRemaining
               ? Ptr<Nic>(CreateObject<LeastRemainingNic>(ContextOf(id), id))
               : Rules().MakeNic(ContextOf(id), id);
}

void
Fabric::CheckBuffer(uint32_t id, const Switch& sw) const
{
    if (m_scenario.scheduling == Scheduling::LeastRemaining)
    {
        return; // it has no limit
    }
    const bool headrooms = Rules().GetPoolSharing(m_scenario.buffer.pfc) == PoolSharing::Thresholds;
    const uint32_t frame = FrameBytes();
    const uint64_t needed = sw.Buffer().CommittedBytes() + (headrooms ? 0 : frame);
    if (needed > m_scenario.buffer.bufferBytes)
    {
        throw ScenarioError(
            "'switch.buffer_bytes' is " + std::to_string(m_scenario.buffer.bufferBytes) +
            ", but switch " + std::to_string(id) + " needs " + std::to_string(needed) + " for " +
            (headrooms ? "the reserves and headrooms" : "a packet beside the reserves") +
            " of its " + std::to_string(sw.Ports().size()) + " ports");
    }
}

Picos
Fabric::DefaultTimeout() const
{
    if (m_scenario.scheduling == Scheduling::LeastRemaining)
    {
        return 2 * m_paths.Extremes().baseRtt; // of a flow with nothing in flight any more
    }
    // Twice the time in which every full buffer on the longest path drains at the slowest link's
    // rate: on a lossless network no packet is ever later than that.
    double slowest = std::numeric_limits<double>::max();
    for (const LinkSpec& link : m_scenario.links)
    {
        slowest = std::min(slowest, link.rateBps);
    }
    // With selective repeat the largest RTT there may be with one congested switch (Mittal 2018, sec. 4.1).
    const bool one = m_scenario.selectiveRepeat.has_value();
    const size_t hops = one ? 1
                            : std::min<size_t>(std::max(MAX_INT_HOPS, m_paths.Extremes().switches),
                                               m_switches.size());
    const double drain = static_cast<double>(m_scenario.buffer.bufferBytes * hops) * 8 /
                         (slowest * LeastShare(m_scenario.classes));
    const auto draining = static_cast<Picos>(std::min(drain, LONGEST_DRAIN_S) * PS_PER_SECOND);
    return one ? draining + m_paths.Extremes().baseRtt
               : Rules().Timeout(2 * draining + 2 * m_paths.Extremes().baseRtt);
}

Route
Fabric::PortsOf(const Hops& path) const
{
    Route route;
    for (size_t i = 1; i < path.size(); ++i) // the first link is the sender's own
    {
        route.push_back(PeekPointer(m_switchOf[path[i].first]->Ports()[path[i].second->port]));
    }
    return route;
}

std::unique_ptr<QueuePair>
Fabric::Connect(const FlowSpec& spec, uint16_t sourcePort, Ptr<CongestionControl> control) const
{
    const RoundTrip path = m_paths.Of(spec, sourcePort);
    Rules().Prepare(*control);
    auto flow = std::make_unique<QueuePair>(spec, m_paths.Describe(path), control);
    if (flow->HasRecords() && path.forward.size() > MAX_INT_HOPS + 1)
    {
        CheckRecords(spec, path.forward);
        flow->DropRecords();
    }
    flow->SetPath(*m_nics[spec.source], PortsOf(path.forward), PortsOf(path.backward));
    if (m_steering)
    {
        flow->SetSteered(std::make_unique<SteeredFlow>(spec.source,
                                                       spec.destination,
                                                       Paths::TupleOf(spec, sourcePort)));
    }
    if (m_scenario.paths && m_scenario.paths->balancing == Balancing::Recycled)
    {
        const double packets = flow->Path().maxBdpBytes / m_scenario.payloadBytes;
        flow->RecycleEntropies({m_scenario.seed,
                                spec.id,
                                static_cast<uint64_t>(std::ceil(packets)),
                                m_scenario.paths->freezing});
    }
    flow->SetRetransmissionTimeout(m_timeout);
    GoBackN recovery = Rules().Recovery(flow->Path().baseRtt);
    recovery.knowsLosses = m_scenario.scheduling == Scheduling::LeastRemaining;
    flow->SetRecovery(recovery);
    if (const auto& selective = m_scenario.selectiveRepeat)
    {
        const double bdps = selective->bdpCap.value_or(std::numeric_limits<double>::infinity());
        SelectiveRepeatConfig config = *selective;
        if (m_scenario
                .trimming) // what is missing is reported packet by packet, and headers overtake
        {
            config.reorderPackets = SelectiveRepeatConfig::ANY_ORDER;
        }
        flow->RepeatSelectively(config, bdps * flow->Path().maxBdpBytes);
    }
    if (m_scenario.nic.IsAny())
    {
        flow->SetNic(m_scenario.nic);
    }
    flow->SetStandalone(m_paths.Standalone(spec, flow->Path(), path));
    return flow;
}

void
Fabric::CheckRecords(const FlowSpec& spec, const Hops& path) const
{
    if (!Rules().DropsLongRecords())
    {
        throw ScenarioError(
            "links",
            "the path from host " + std::to_string(spec.source) + " to host " +
                std::to_string(spec.destination) + " has " + std::to_string(path.size() - 1) +
                " switches; its controller reads a record of each, and a packet holds " +
                std::to_string(MAX_INT_HOPS));
    }
}

uint64_t
Fabric::DeliveredPayload() const
{
    uint64_t bytes = 0;
    for (const auto& nic : m_nics)
    {
        bytes += nic ? nic->DeliveredPayload() : 0;
    }
    return bytes;
}

} // namespace ns3::env::rdma
