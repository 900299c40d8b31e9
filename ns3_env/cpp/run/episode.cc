// SPDX-License-Identifier: GPL-2.0-or-later
// An episode: one run of a scenario's flows from start to record, whatever carries their packets.
#include "episode.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <numeric>

namespace ns3::env
{

namespace
{
constexpr uint16_t FIRST_SOURCE_PORT = 10000;
constexpr Picos WINDOWS_AHEAD = 16; ///< for which a network in parts has flows created together

} // namespace

Episode::Episode(Scenario scenario, FlowHook onCreate)
    : m_scenario(std::move(scenario)),
      m_onCreate(std::move(onCreate))
{
    m_order.resize(m_scenario.flows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    if (const auto& dependencies = m_scenario.dependencies)
    {
        std::erase_if(m_order, [&](uint32_t flow) { return dependencies->Waits(flow); });
    }
    std::stable_sort(m_order.begin(),
                     m_order.end(),
                     [this](uint32_t a, uint32_t b)
                     { return m_scenario.flows[a].flow.start < m_scenario.flows[b].flow.start; });
    m_records.resize(m_scenario.flows.size());
    m_withEnd =
        static_cast<size_t>(std::count_if(m_scenario.flows.begin(),
                                          m_scenario.flows.end(),
                                          [](const FlowEntry& x) { return !x.flow.IsEndless(); }));
}

Episode::~Episode()
{
    ForgetFlows();
}

void
Episode::ForgetFlows()
{
    m_flows.clear();
}

void
Episode::MakeDependencies()
{
    const DependencySpec& spec = *m_scenario.dependencies;
    const auto stepsOver = [this] { CutIfOver(); };
    const Racks* racks = GetRacks();
    if (racks == nullptr)
    {
        m_dependencies = std::make_unique<Dependencies>(
            spec,
            m_scenario.flows.size(),
            [this](uint32_t flow) { StartWaiting(flow); },
            stepsOver);
        return;
    }
    m_dependencies = std::make_unique<DependenciesInParts>(
        spec,
        m_scenario.flows,
        *racks,
        DependenciesInParts::FlowHooks{[this](uint32_t flow) { return CreateWaiting(flow); },
                                       [this](uint32_t flow) { StartCreated(flow); },
                                       [this](uint32_t flow) { OnStarted(flow); }},
        stepsOver);
}

Episode::Hosted&
Episode::Create(const FlowEntry& entry)
{
    Heartbeat::Beat();
    const FlowSpec& spec = entry.flow;
    Hosted& hosted = m_flows[spec.id];
    hosted.sourcePort =
        static_cast<uint16_t>(FIRST_SOURCE_PORT + m_portCount[{spec.source, spec.destination}]++);
    hosted.flow = Connect(entry, hosted.sourcePort);
    hosted.flow->SetFinishedCallback(
        [this](Flow& done)
        { EventLoop::Report(done.EndTime(), done.Id(), [this, &done] { OnFinished(done); }); });
    if (m_dependencies && !entry.flow.IsEndless())
    {
        hosted.flow->AwaitDelivery(*m_dependencies);
    }
    return hosted;
}

/// Makes the flow live.
void
Episode::Enter(Hosted& hosted)
{
    Flow& flow = *hosted.flow;
    FlowRecord& record = m_records[flow.Id()];
    record.sourcePort = hosted.sourcePort;
    record.baseRtt = flow.Path().baseRtt;
    record.headerBytes = flow.Path().packetBytes - flow.Path().payloadBytes;
    record.standalone = flow.Standalone();
    hosted.place = m_live.insert(m_live.end(), &flow);
}

Picos
Episode::CreatesAhead() const
{
    return GetRacks() != nullptr ? WINDOWS_AHEAD * GetRacks()->lookahead : 0;
}

void
Episode::StartDueFlows()
{
    const Picos now = NowPicos();
    const Picos until = std::min(now + CreatesAhead(), std::max(now, m_scenario.timeLimit - 1));
    SweepRetired();
    while (m_nextStart < m_order.size())
    {
        const FlowEntry& entry = m_scenario.flows[m_order[m_nextStart]];
        if (entry.flow.start > until)
        {
            Simulator::Schedule(Time(entry.flow.start - now), &Episode::StartDueFlows, this);
            return;
        }
        ++m_nextStart;
        Start(entry);
    }
    ReportAllStarted();
}

void
Episode::Start(const FlowEntry& entry)
{
    std::optional<ScenarioError> refused;
    try
    {
        CreateAndStart(entry);
    }
    catch (const ScenarioError& error)
    {
        if (!m_refusal)
        {
            throw;
        }
        refused = error;
    }
    if (refused)
    {
        m_refusal(*refused);
    }
}

void
Episode::CreateAndStart(const FlowEntry& entry)
{
    Hosted& hosted = Create(entry);
    Enter(hosted);
    m_onCreate(*hosted.flow, entry);
    m_traces.created(*hosted.flow);
    StartFlow(*hosted.flow);
    if (m_dependencies)
    {
        m_dependencies->OnCreated(entry.flow.id);
    }
}

void
Episode::StartWaiting(uint32_t flow)
{
    SweepRetired();
    m_scenario.flows[flow].flow.start = NowPicos(); // unknown before
    Start(m_scenario.flows[flow]);
    ReportAllStarted();
}

/// \returns a lower bound of the time from its start until its receiver has all of it
Picos
Episode::CreateWaiting(uint32_t flow)
{
    const FlowEntry& entry = m_scenario.flows[flow];
    Flow& created = *Create(entry).flow;
    m_onCreate(created, entry);
    const PathFacts& path = created.Path();
    const double sending = static_cast<double>(created.SizeBytes()) * 8 / path.hostRateBps;
    // Half of the base RTT is the forward path, but the reverse path may differ.
    return path.baseRtt / 4 + static_cast<Picos>(std::min(sending, 1.0) * PS_PER_SECOND);
}

void
Episode::StartCreated(uint32_t flow)
{
    const Picos now = NowPicos();
    Flow& created = *m_flows.at(flow).flow;
    m_scenario.flows[flow].flow.start = now;
    created.SetStartTime(now);
    created.Start();
}

void
Episode::OnStarted(uint32_t flow)
{
    SweepRetired();
    Hosted& hosted = m_flows.at(flow);
    Enter(hosted);
    m_traces.created(*hosted.flow);
    ReportAllStarted();
}

void
Episode::ReportAllStarted()
{
    if (m_nextStart == m_order.size() && (!m_dependencies || m_dependencies->FlowsLeft() == 0))
    {
        if (CreatesAhead() == 0)
        {
            OnAllStarted();
            return;
        }
        const Picos now = NowPicos();
        const Picos last = m_order.empty() ? now : m_scenario.flows[m_order.back()].flow.start;
        Simulator::Schedule(Time(std::max(last, now) - now), &Episode::OnAllStarted, this);
    }
}

void
Episode::Record(const Flow& flow)
{
    FlowRecord& record = m_records[flow.Id()];
    record.end = flow.EndTime();
    record.ackedBytes = flow.AckedBytes();
    record.retransmittedBytes = flow.RetransmittedBytes();
    record.pause = flow.PauseTime();
    record.timeouts = flow.Timeouts();
    record.outOfOrderPackets = flow.OutOfOrderPackets();
    record.duplicateBytes = flow.DuplicateBytes();
    m_transmittedPayload += flow.TransmittedBytes();
    if (const PacketOrder* order = flow.Order())
    {
        record.order = std::make_shared<const OrderSummary>(
            OrderSummary{order->Arrived(), order->Late(), order->Distance()});
    }
    if (const RttSamples* rtts = flow.Rtts())
    {
        if (!m_rtts)
        {
            m_rtts.emplace();
        }
        m_rtts->Add(*rtts);
        if (rtts->Count() > 0)
        {
            record.rtt = std::make_shared<const RttSummary>(RttSummary{rtts->Count(),
                                                                       rtts->Mean(),
                                                                       rtts->Percentile(0.5),
                                                                       rtts->Percentile(0.99),
                                                                       rtts->Max()});
        }
    }
    m_traces.over(flow);
}

void
Episode::OnFinished(Flow& flow)
{
    m_traces.finished(flow);
    ++m_finished;
    Record(flow);
    m_live.erase(m_flows.at(flow.Id()).place);
    m_retired.push_back(flow.Id());
    CutIfOver();
}

void
Episode::CutIfOver()
{
    if (!m_isOpen && m_finished == m_withEnd && (!m_dependencies || m_dependencies->AreStepsOver()))
    {
        Cut(); // endless flows end here
    }
}

void
Episode::SweepRetired()
{
    std::erase_if(m_retired,
                  [this](uint32_t id)
                  {
                      if (m_flows.at(id).flow->IsOnNetwork())
                      {
                          return false;
                      }
                      m_flows.erase(id);
                      return true;
                  });
}

void
Episode::Cut()
{
    if (m_onCut)
    {
        m_onCut(NowPicos());
    }
    Stop();
}

void
Episode::CutAt(Picos time)
{
    Simulator::Schedule(Time(std::max<Picos>(time - NowPicos(), 0)), &Episode::Cut, this);
}

void
Episode::Stop()
{
    m_endTime = NowPicos();
    m_ended = true;
    Simulator::Stop();
}

void
Episode::Run()
{
    Begin();
    Simulator::Run();
    End();
}

void
Episode::Begin()
{
    if (m_scenario.dependencies)
    {
        MakeDependencies();
    }
    Simulator::ScheduleNow(&Episode::StartDueFlows, this);
    if (!m_isOpen)
    {
        Simulator::Schedule(Time(m_scenario.timeLimit), &Episode::Cut, this);
    }
    if (m_dependencies)
    {
        m_dependencies->Begin();
    }
    OnRunBegins();
    m_traces.begin();
}

void
Episode::Add(const FlowEntry& entry)
{
    m_scenario.flows.push_back(entry);
    m_records.emplace_back();
    m_withEnd += entry.flow.IsEndless() ? 0 : 1;
    SweepRetired();
    Start(entry);
}

void
Episode::End()
{
    if (!m_ended)
    {
        Cut();
    }
    if (m_dependencies)
    {
        for (FlowEntry& entry : m_scenario.flows) // one that waited in vain never started
        {
            const bool started = m_records[entry.flow.id].baseRtt > 0;
            entry.flow.start = started ? entry.flow.start : std::max(entry.flow.start, m_endTime);
        }
    }
    m_traces.ended();
    for (Flow* flow : m_live)
    {
        flow->Abort();
        Record(*flow);
    }
    OnRunEnds();
}

} // namespace ns3::env
