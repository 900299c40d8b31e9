// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue-series.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/engine/now.h"

namespace ns3::env
{

QueueSampler::QueueSampler(FlowRun& run, Picos interval)
    : m_run(run),
      m_interval(interval)
{
    run.Traces().begin.ConnectWithoutContext(MakeCallback(&QueueSampler::OnBegin, this));
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
    m_run.ForEachQueue(
        [&](const EgressQueue& queue)
        {
            QueueSeries& series = m_series[{queue.node, queue.port}];
            series.time.push_back(now);
            series.bytes.push_back(queue.bytes);
        });
    Simulator::Schedule(Time(m_interval), &QueueSampler::Sample, this);
}

} // namespace ns3::env
