// SPDX-License-Identifier: GPL-2.0-or-later
#include "network.h"

#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ns3::rdma
{

namespace
{

constexpr uint16_t FIRST_SOURCE_PORT = 10000;
constexpr uint16_t DESTINATION_PORT = 100;
constexpr Picos EVENTS_PER_FRAME = 64;
// Units of quantised telemetry grow with the hosts' rate above this one.
constexpr double TELEMETRY_REFERENCE_BPS = 25e9;
// Random streams that the published simulator has handed out before it marks its first packet
// (docs/decisions/0002): of each node's protocol stack, and of its loss model.
constexpr uint64_t PUBLISHED_STREAMS_PER_NODE = 6;
constexpr uint64_t PUBLISHED_STREAMS_OF_LOSS = 2;

std::map<std::string, double>
Summary(const DecisionTimes& times)
{
    return {{"decision_us_mean", times.Mean()},
            {"decision_us_p50", times.Percentile(0.50)},
            {"decision_us_p95", times.Percentile(0.95)},
            {"decision_us_p99", times.Percentile(0.99)}};
}

Ptr<CongestionControl>
CreateController(const ControllerSpec& spec)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe("rdma::" + spec.name, &tid) ||
        !tid.IsChildOf(CongestionControl::GetTypeId()))
    {
        std::string known;
        for (const auto& name : ListControllers())
        {
            known.append(known.empty() ? "" : ", ").append(name);
        }
        throw ScenarioError("unknown controller '" + spec.name + "'; known: " + known);
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    Ptr<CongestionControl> control = factory.Create<CongestionControl>();
    for (const auto& [name, value] : spec.attributes)
    {
        if (!control->SetAttributeFailSafe(name, StringValue(value)))
        {
            std::string known;
            for (size_t i = 0; i < tid.GetAttributeN(); ++i)
            {
                known.append(i == 0 ? "" : ", ").append(tid.GetAttribute(i).name);
            }
            throw ScenarioError("controller '" + spec.name + "': cannot set attribute '" + name +
                                "' to '" + value + "'; its attributes: " + known);
        }
    }
    return control;
}

} // namespace

Network::Network(Scenario scenario, FlowHook onCreate)
    : m_scenario(std::move(scenario)),
      m_onCreate(std::move(onCreate)),
      m_routing(m_scenario),
      m_maxBaseRtt(m_routing.MaxBaseRtt(m_scenario.payloadBytes, m_scenario.rounding))
{
    RngSeedManager::SetRun(m_scenario.seed);
    m_context.rounding = m_scenario.rounding;
    if (m_scenario.rounding == Rounding::TruncateNs)
    {
        m_context.random.UseStreamPerDraw(PUBLISHED_STREAMS_PER_NODE * m_scenario.isSwitch.size() +
                                          PUBLISHED_STREAMS_OF_LOSS);
    }
    for (const ControllerSpec& spec : m_scenario.controllers)
    {
        CreateController(spec); // a bad name or attribute is an error now, not when the flow starts
    }
    BuildNodes();
    ConfigureSwitches();
    SetGrain();
    m_timeout = m_scenario.retransmissionTimeout.value_or(DefaultTimeout());

    m_order.resize(m_scenario.flows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    std::stable_sort(m_order.begin(),
                     m_order.end(),
                     [this](uint32_t a, uint32_t b)
                     { return m_scenario.flows[a].flow.start < m_scenario.flows[b].flow.start; });
    m_records.resize(m_scenario.flows.size());
    if (m_scenario.recordWindows)
    {
        m_context.knobTrace = [this](const FlowState& flow, Picos now)
        { m_knobChanges.push_back({now, flow.Id(), flow.WindowBytes(), flow.RateBps()}); };
    }
}

Network::~Network() = default;

Port&
Network::PortAt(uint32_t node, uint32_t port) const
{
    if (m_scenario.isSwitch[node])
    {
        return *m_switchOf[node]->Ports()[port];
    }
    return *m_nics[node];
}

std::vector<Port*>
Network::Ports() const
{
    std::vector<Port*> ports;
    for (uint32_t node = 0; node < m_nodes.size(); ++node)
    {
        const size_t count = m_switchOf[node] ? m_switchOf[node]->Ports().size() : 1;
        for (uint32_t port = 0; port < count; ++port)
        {
            ports.push_back(&PortAt(node, port));
        }
    }
    return ports;
}

void
Network::BuildNodes()
{
    const auto count = static_cast<uint32_t>(m_scenario.isSwitch.size());
    m_nics.resize(count);
    m_switchOf.resize(count);
    for (uint32_t id = 0; id < count; ++id)
    {
        Ptr<Node> node = CreateObject<Node>();
        m_nodes.push_back(node);
        if (m_scenario.isSwitch[id])
        {
            m_switchOf[id] = CreateObject<Switch>(m_context, m_scenario.buffer);
            m_switches.emplace_back(id, m_switchOf[id]);
            node->AggregateObject(m_switchOf[id]);
            for (size_t i = 0; i < m_routing.Neighbours(id).size(); ++i)
            {
                m_switchOf[id]->AddPort(id);
            }
        }
        else
        {
            m_nics[id] = CreateObject<Nic>(m_context, id);
            node->AggregateObject(m_nics[id]);
        }
    }
    // Ports are numbered in the order of the links at each node, which is how Routing numbers them.
    std::vector<uint32_t> used(count, 0);
    for (const LinkSpec& link : m_scenario.links)
    {
        Port& a = PortAt(link.a, used[link.a]++);
        Port& b = PortAt(link.b, used[link.b]++);
        Port::Connect(a, b, link.rateBps, link.delay);
        a.SetLoss(m_scenario.lossProbability);
        b.SetLoss(m_scenario.lossProbability);
    }
}

void
Network::SetGrain() const
{
    EventLoop* loop = EventLoop::Current();
    if (loop == nullptr)
    {
        return;
    }
    double fastest = 0;
    for (const LinkSpec& link : m_scenario.links)
    {
        fastest = std::max(fastest, link.rateBps);
    }
    // A hop takes the time of a frame; a network has some dozens of events in that time.
    loop->SetGrain(IdealTime(m_scenario.payloadBytes, fastest, Rounding::Exact) / EVENTS_PER_FRAME);
}

void
Network::ConfigureSwitches()
{
    double hostRate = 0;
    for (const auto& nic : m_nics)
    {
        hostRate = nic ? std::max(hostRate, nic->RateBps()) : hostRate;
    }
    const Picos firstStart = std::min_element(m_scenario.flows.begin(),
                                              m_scenario.flows.end(),
                                              [](const FlowEntry& x, const FlowEntry& y)
                                              { return x.flow.start < y.flow.start; })
                                 ->flow.start;
    for (auto& [id, sw] : m_switches)
    {
        sw->ConfigureBuffer(hostRate, m_scenario.payloadBytes + MAX_HEADER_BYTES);
        if (sw->Buffer().CommittedBytes() > m_scenario.buffer.bufferBytes)
        {
            throw ScenarioError("'switch.buffer_bytes' is " +
                                std::to_string(m_scenario.buffer.bufferBytes) + ", but switch " +
                                std::to_string(id) + " needs " +
                                std::to_string(sw->Buffer().CommittedBytes()) +
                                " for the reserves and headrooms of its " +
                                std::to_string(sw->Ports().size()) + " ports");
        }
        for (const auto& port : sw->Ports())
        {
            std::unique_ptr<FlowCounter> counter;
            if (m_scenario.flowTimeout)
            {
                counter = std::make_unique<TimeoutFlowCounter>(*m_scenario.flowTimeout);
            }
            else
            {
                counter = std::make_unique<ExactFlowCounter>();
            }
            const auto unit =
                static_cast<uint32_t>(std::max(1.0, hostRate / TELEMETRY_REFERENCE_BPS));
            port->Configure(m_scenario.ecn, std::move(counter), unit);
            if (m_scenario.recordQueues)
            {
                port->RecordQueue(firstStart);
            }
        }
    }
}

Picos
Network::DefaultTimeout() const
{
    // Twice the time in which every full buffer on the longest path drains at the slowest link's
    // rate: on a lossless network no packet is ever later than that.
    double slowest = std::numeric_limits<double>::max();
    for (const LinkSpec& link : m_scenario.links)
    {
        slowest = std::min(slowest, link.rateBps);
    }
    const size_t hops = std::min<size_t>(MAX_INT_HOPS, m_switches.size());
    const double drain = static_cast<double>(m_scenario.buffer.bufferBytes * hops) * 8 / slowest;
    return 2 * static_cast<Picos>(drain * PS_PER_SECOND) + 2 * m_maxBaseRtt;
}

Route
Network::PortsOf(const std::vector<std::pair<uint32_t, const Neighbour*>>& path) const
{
    Route route;
    for (size_t i = 1; i < path.size(); ++i) // the first link is the sender's own
    {
        route.push_back(PeekPointer(m_switchOf[path[i].first]->Ports()[path[i].second->port]));
    }
    return route;
}

PathFacts
Network::DescribePath(const std::vector<std::pair<uint32_t, const Neighbour*>>& forward,
                      const std::vector<std::pair<uint32_t, const Neighbour*>>& backward) const
{
    PathFacts facts;
    facts.rounding = m_scenario.rounding;
    facts.payloadBytes = m_scenario.payloadBytes;
    facts.hostRateBps = forward.front().second->rateBps;
    facts.minRateBps = m_scenario.minRateBps.value_or(facts.hostRateBps / 100);
    facts.maxBaseRtt = m_maxBaseRtt;
    Picos back = 0;
    for (const auto& [node, link] : backward)
    {
        back += link->delay + IdealTime(MIN_FRAME_BYTES, link->rateBps, facts.rounding);
    }
    Picos oneWay = 0;
    for (const auto& [node, link] : forward)
    {
        const Picos serialise = IdealTime(facts.payloadBytes, link->rateBps, facts.rounding);
        facts.baseRtt += 2 * link->delay + serialise;
        if (node != forward.front().first)
        {
            facts.hops.push_back({link->rateBps, oneWay, -oneWay});
        }
        oneWay += link->delay + serialise;
    }
    for (PathHop& hop : facts.hops)
    {
        hop.feedbackDelay += oneWay + back;
    }
    // Whole bytes; multiplied before divided, so that round figures stay exact.
    const double scale = 8.0 * PS_PER_SECOND;
    facts.bdpBytes = std::floor(static_cast<double>(facts.baseRtt) * facts.hostRateBps / scale);
    facts.maxBdpBytes =
        std::floor(static_cast<double>(facts.maxBaseRtt) * facts.hostRateBps / scale);
    return facts;
}

std::unique_ptr<QueuePair>
Network::CreateFlow(const FlowEntry& entry)
{
    const FlowSpec& spec = entry.flow;
    const auto sourcePort =
        static_cast<uint16_t>(FIRST_SOURCE_PORT + m_portCount[{spec.source, spec.destination}]++);
    const FiveTuple tuple{NodeAddress(spec.source),
                          NodeAddress(spec.destination),
                          sourcePort,
                          DESTINATION_PORT};
    const auto forward = m_routing.Path(spec.source, spec.destination, tuple);
    const auto backward = m_routing.Path(spec.destination, spec.source, tuple.Reversed());
    auto flow =
        std::make_unique<QueuePair>(spec,
                                    DescribePath(forward, backward),
                                    CreateController(m_scenario.controllers[entry.controller]));
    flow->SetPath(*m_nics[spec.source], PortsOf(forward), PortsOf(backward));
    flow->SetRetransmissionTimeout(m_timeout);
    flow->SetFinishedCallback([this](QueuePair& done) { OnFinished(done); });

    // FCT of the flow alone: base RTT + bytes and headers at the slowest link (REFERENCE.md, "Sender").
    double slowest = flow->Path().hostRateBps;
    for (const PathHop& hop : flow->Path().hops)
    {
        slowest = std::min(slowest, hop.rateBps);
    }
    const uint64_t packets =
        (spec.sizeBytes + m_scenario.payloadBytes - 1) / m_scenario.payloadBytes;
    m_records[spec.id].sourcePort = sourcePort;
    m_records[spec.id].standalone =
        flow->Path().baseRtt +
        IdealTime(spec.sizeBytes + DATA_HEADER_BYTES * packets, slowest, m_scenario.rounding);
    return flow;
}

void
Network::StartFlow(QueuePair& flow)
{
    const auto start = [this, &flow]
    {
        flow.Start();
        if (m_context.knobTrace)
        {
            m_context.knobTrace(flow, NowPicos());
        }
    };
    if (m_scenario.rounding == Rounding::TruncateNs)
    {
        // An application of the published simulator starts two events later, in the same nanosecond.
        Simulator::ScheduleNow([start] { Simulator::ScheduleNow(start); });
    }
    else
    {
        start();
    }
}

void
Network::StartDueFlows()
{
    const Picos now = NowPicos();
    SweepRetired();
    while (m_nextStart < m_order.size())
    {
        const FlowEntry& entry = m_scenario.flows[m_order[m_nextStart]];
        if (entry.flow.start > now)
        {
            Simulator::Schedule(Time(entry.flow.start - now), &Network::StartDueFlows, this);
            return;
        }
        ++m_nextStart;
        auto& flow = m_flows[entry.flow.id];
        flow = CreateFlow(entry);
        m_live.push_back(flow.get());
        m_onCreate(*flow, entry);
        StartFlow(*flow);
    }
    if (m_finished == 0) // all have started, none is done: the common interval begins
    {
        m_allActive.begin = now;
        m_allActive.receivedBytes.resize(m_scenario.flows.size());
        for (const QueuePair* flow : m_live)
        {
            m_allActive.receivedBytes[flow->Id()] = flow->ReceivedBytes();
        }
    }
}

void
Network::Record(const QueuePair& flow)
{
    FlowRecord& record = m_records[flow.Id()];
    record.end = flow.EndTime();
    record.ackedBytes = flow.AckedBytes();
    record.retransmittedBytes = flow.RetransmittedBytes();
    record.pause = flow.PauseTime();
    record.timeouts = flow.Timeouts();
    m_transmittedPayload += flow.TransmittedBytes();
    for (const auto& [name, value] : flow.Control().GetCounters())
    {
        m_counters[name] += value;
        CounterOf(flow, name) = value;
    }
    const DecisionTimes* times = flow.Control().GetDecisionTimes();
    if (times != nullptr && times->Count() > 0)
    {
        m_decisionTimes.Add(*times);
        for (const auto& [name, value] : Summary(*times))
        {
            CounterOf(flow, name) = value;
        }
    }
}

double&
Network::CounterOf(const QueuePair& flow, const std::string& name)
{
    std::vector<double>& column = m_flowCounters[name];
    column.resize(m_records.size(), std::numeric_limits<double>::quiet_NaN());
    return column[flow.Id()];
}

std::map<std::string, double>
Network::Counters() const
{
    std::map<std::string, double> counters = m_counters;
    if (m_decisionTimes.Count() > 0)
    {
        counters.merge(Summary(m_decisionTimes));
    }
    return counters;
}

void
Network::OnFinished(QueuePair& flow)
{
    if (m_finished == 0 && !m_allActive.receivedBytes.empty())
    {
        m_allActive.end = flow.EndTime();
        for (const QueuePair* live : m_live)
        {
            uint64_t& bytes = m_allActive.receivedBytes[live->Id()];
            bytes = live->ReceivedBytes() - bytes;
        }
    }
    ++m_finished;
    Record(flow);
    m_live.erase(std::find(m_live.begin(), m_live.end(), &flow));
    m_retired.push_back(flow.Id());
    if (m_finished == m_scenario.flows.size())
    {
        Stop();
    }
}

void
Network::SweepRetired()
{
    std::erase_if(m_retired,
                  [this](uint32_t id)
                  {
                      if (m_flows.at(id)->PacketsOnNetwork() > 0)
                      {
                          return false;
                      }
                      m_flows.erase(id);
                      return true;
                  });
}

void
Network::SampleQueues()
{
    const Picos now = NowPicos();
    for (auto& [id, sw] : m_switches)
    {
        for (const auto& port : sw->Ports())
        {
            QueueSeries& series = m_series[{id, port->Index()}];
            series.time.push_back(now);
            series.bytes.push_back(port->QueueBytes());
        }
    }
    Simulator::Schedule(Time(m_scenario.queueSeriesInterval), &Network::SampleQueues, this);
}

void
Network::Cut()
{
    if (m_onCut)
    {
        m_onCut(NowPicos());
    }
    Stop();
}

void
Network::Stop()
{
    m_endTime = NowPicos();
    m_ended = true;
    Simulator::Stop();
}

void
Network::Run()
{
    Simulator::ScheduleNow(&Network::StartDueFlows, this);
    Simulator::Schedule(Time(m_scenario.timeLimit), &Network::Cut, this);
    if (m_scenario.queueSeriesInterval > 0)
    {
        Simulator::ScheduleNow(&Network::SampleQueues, this);
    }
    Simulator::Run();
    if (!m_ended)
    {
        m_endTime = NowPicos();
    }
    for (QueuePair* flow : m_live)
    {
        flow->Abort();
        Record(*flow);
    }
    for (auto& [id, sw] : m_switches)
    {
        for (const auto& port : sw->Ports())
        {
            if (port->Stats() != nullptr)
            {
                port->Stats()->Finish(m_endTime);
            }
        }
    }
}

uint64_t
Network::TransmittedPayload() const
{
    return m_transmittedPayload;
}

uint64_t
Network::DeliveredPayload() const
{
    uint64_t bytes = 0;
    for (const auto& nic : m_nics)
    {
        bytes += nic ? nic->DeliveredPayload() : 0;
    }
    return bytes;
}

} // namespace ns3::rdma
