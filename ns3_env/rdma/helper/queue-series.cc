// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue-series.h"

#include "ns3/simulator.h"
#include "ns3_env/rdma/model/sign-of-life.h"

namespace ns3::rdma
{

QueueSampler::QueueSampler(Network& network, Picos interval)
    : m_network(network),
      m_interval(interval)
{
    network.Traces().begin.ConnectWithoutContext(MakeCallback(&QueueSampler::OnBegin, this));
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
    for (const auto& [id, sw] : m_network.Switches())
    {
        SignOfLife::Beat();
        for (const auto& port : sw->Ports())
        {
            QueueSeries& series = m_series[{id, port->Index()}];
            series.time.push_back(now);
            series.bytes.push_back(port->QueueBytes());
        }
    }
    Simulator::Schedule(Time(m_interval), &QueueSampler::Sample, this);
}

} // namespace ns3::rdma
