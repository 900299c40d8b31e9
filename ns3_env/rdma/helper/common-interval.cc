// SPDX-License-Identifier: GPL-2.0-or-later
#include "common-interval.h"

namespace ns3::rdma
{

CommonInterval::CommonInterval(Network& network)
    : m_network(network)
{
    NetworkTraces& traces = network.Traces();
    traces.allStarted.ConnectWithoutContext(MakeCallback(&CommonInterval::OnAllStarted, this));
    traces.finished.ConnectWithoutContext(MakeCallback(&CommonInterval::OnFinished, this));
}

void
CommonInterval::OnAllStarted()
{
    if (m_over)
    {
        return;
    }
    m_begin = NowPicos();
    m_receivedBytes.resize(m_network.GetScenario().flows.size());
    for (const QueuePair* flow : m_network.LiveFlows())
    {
        m_receivedBytes[flow->Id()] = flow->ReceivedBytes();
    }
}

void
CommonInterval::OnFinished(const QueuePair& flow)
{
    if (!m_over && !m_receivedBytes.empty())
    {
        m_end = flow.EndTime();
        for (const QueuePair* live : m_network.LiveFlows())
        {
            uint64_t& bytes = m_receivedBytes[live->Id()];
            bytes = live->ReceivedBytes() - bytes;
        }
    }
    m_over = true;
}

} // namespace ns3::rdma
