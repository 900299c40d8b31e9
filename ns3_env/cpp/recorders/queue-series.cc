// SPDX-License-Identifier: GPL-2.0-or-later
// Lengths of the switches' egress queues at equal intervals.
#include "queue-series.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/engine/now.h"

namespace ns3::env
{

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
    const Picos now = NowPicos();
    m_episode.ForEachQueue(
        [&](const EgressQueue& queue)
        {
            QueueSeries& series = m_series[{queue.node, queue.port}];
            series.time.push_back(now);
            series.bytes.push_back(queue.bytes);
        });
    Simulator::Schedule(Time(m_interval), &QueueSampler::Sample, this);
}

} // namespace ns3::env
