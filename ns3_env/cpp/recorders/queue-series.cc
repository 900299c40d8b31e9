// SPDX-License-Identifier: GPL-2.0-or-later
// Series of a run: queues' lengths, windows and rates, marks and pauses.
#include "queue-series.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

namespace ns3::env
{

EventLog::EventLog(Episode& episode)
{
    episode.TraceEvents([this](uint32_t flow) { m_marks.push_back({NowPicos(), flow}); },
                        [this](uint32_t node, uint32_t port, bool paused)
                        { m_pauses.push_back({NowPicos(), node, port, paused}); });
}

WindowLog::WindowLog(Episode& episode)
{
    episode.TraceWindowAndRate(MakeCallback(&WindowLog::OnChange, this));
}

void
WindowLog::OnChange(const FlowState& flow, Picos now)
{
    m_changes.push_back({now, flow.Id(), flow.WindowBytes(), flow.RateBps()});
}

QueueSampler::QueueSampler(Episode& episode, Picos interval)
    : m_episode(episode),
      m_interval(interval)
{
    episode.Traces().begin.ConnectWithoutContext(MakeCallback(&QueueSampler::OnBegin, this));
}

void
QueueSampler::OnBegin()
{
    Simulator::ScheduleNow(&QueueSampler::Sample, this);
}

void
QueueSampler::Sample()
{
    m_times.push_back(NowPicos());
    size_t place = 0;
    m_episode.ForEachQueue(
        [&](const EgressQueue& queue)
        {
            if (place == m_lengths.size())
            {
                m_lengths.emplace_back();
                m_place[{queue.node, queue.port}] = place;
            }
            m_lengths[place++].push_back(queue.bytes);
        });
    Simulator::Schedule(Time(m_interval), &QueueSampler::Sample, this);
}

} // namespace ns3::env
