// SPDX-License-Identifier: GPL-2.0-or-later
// An episode: one run of a scenario's flows from start to record, whatever carries their packets.
#include "episode.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace ns3::env
{

namespace
{
constexpr uint16_t FIRST_SOURCE_PORT = 10000;
constexpr size_t FREED_TOGETHER = 1024;

/// glibc gathers small pieces that were freed, and merges all of them at once when something larger is asked for or
/// freed: of very many, 0.1 s without a sign of life. Asked often, it has little to merge.
void
MergeFreedMemory()
{
    constexpr size_t LARGER = 4096;
    void* volatile block = std::malloc(LARGER);
    std::free(block);
}
} // namespace

Episode::Episode(Scenario scenario, FlowHook onCreate)
    : m_scenario(std::move(scenario)),
      m_onCreate(std::move(onCreate))
{
    m_order.resize(m_scenario.flows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    if (m_scenario.dependencies)
    {
        m_dependencies = std::make_unique<Dependencies>(
            *m_scenario.dependencies,
            m_scenario.flows.size(),
            [this](uint32_t flow) { StartWaiting(flow); },
            [this] { CutIfOver(); });
        std::erase_if(m_order, [this](uint32_t flow) { return m_dependencies->Waits(flow); });
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
    while (!m_flows.empty()) // very many flows take their time to go, too
    {
        Heartbeat::Beat();
        m_flows.erase(m_flows.begin());
        if (m_flows.size() % FREED_TOGETHER == 0)
        {
            MergeFreedMemory();
        }
    }
}

std::unique_ptr<Flow>
Episode::Create(const FlowEntry& entry)
{
    const FlowSpec& spec = entry.flow;
    const auto sourcePort =
        static_cast<uint16_t>(FIRST_SOURCE_PORT + m_portCount[{spec.source, spec.destination}]++);
    std::unique_ptr<Flow> flow = Connect(entry, sourcePort);
    flow->SetFinishedCallback(
        [this](Flow& done)
        { EventLoop::Report(done.EndTime(), done.Id(), [this, &done] { OnFinished(done); }); });

    m_records[spec.id].sourcePort = sourcePort;
    m_records[spec.id].baseRtt = flow->Path().baseRtt;
    m_records[spec.id].headerBytes = flow->Path().packetBytes - flow->Path().payloadBytes;
    m_records[spec.id].standalone = flow->Standalone();
    return flow;
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
        Begin(entry);
    }
    ReportAllStarted();
}

void
Episode::Begin(const FlowEntry& entry)
{
    Heartbeat::Beat();
    Hosted& hosted = m_flows[entry.flow.id];
    hosted.flow = Create(entry);
    Flow* flow = hosted.flow.get();
    if (m_dependencies && !entry.flow.IsEndless())
    {
        flow->AwaitDelivery(*m_dependencies);
    }
    hosted.place = m_live.insert(m_live.end(), flow);
    m_onCreate(*flow, entry);
    m_traces.created(*flow);
    StartFlow(*flow);
}

void
Episode::StartWaiting(uint32_t flow)
{
    SweepRetired();
    m_scenario.flows[flow].flow.start = NowPicos(); // which nobody could know before
    Begin(m_scenario.flows[flow]);
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
        const Picos last = m_scenario.flows[m_order.back()].flow.start;
        Simulator::Schedule(Time(last - NowPicos()), &Episode::OnAllStarted, this);
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
        record.order = {order->Arrived(), order->Late(), order->Distance()};
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
            record.rtt = {rtts->Count(),
                          rtts->Mean(),
                          rtts->Percentile(0.5),
                          rtts->Percentile(0.99),
                          rtts->Max()};
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
    if (m_finished == m_withEnd && (!m_dependencies || m_dependencies->AreStepsOver()))
    {
        Cut(); // what is endless goes no further
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
    Simulator::ScheduleNow(&Episode::StartDueFlows, this);
    Simulator::Schedule(Time(m_scenario.timeLimit), &Episode::Cut, this);
    if (m_dependencies)
    {
        m_dependencies->Begin();
    }
    OnRunBegins();
    m_traces.begin();
    Simulator::Run();
    if (!m_ended)
    {
        m_endTime = NowPicos();
    }
    if (m_dependencies)
    {
        for (FlowEntry& entry : m_scenario.flows) // that waited in vain has not lived
        {
            const bool started = m_records[entry.flow.id].baseRtt > 0;
            entry.flow.start = started ? entry.flow.start : std::max(entry.flow.start, m_endTime);
        }
    }
    m_traces.ended();
    for (Flow* flow : m_live)
    {
        Heartbeat::Beat();
        flow->Abort();
        Record(*flow);
    }
    OnRunEnds();
}

} // namespace ns3::env
