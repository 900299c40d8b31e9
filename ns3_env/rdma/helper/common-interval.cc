// SPDX-License-Identifier: GPL-2.0-or-later
#include "common-interval.h"

#include <algorithm>

namespace ns3::rdma
{

CommonInterval::CommonInterval(Network& network)
    : m_network(network)
{
    NetworkTraces& traces = network.Traces();
    traces.allStarted.ConnectWithoutContext(MakeCallback(&CommonInterval::OnAllStarted, this));
    traces.finished.ConnectWithoutContext(MakeCallback(&CommonInterval::OnFinished, this));
    traces.ended.ConnectWithoutContext(MakeCallback(&CommonInterval::OnRunEnds, this));
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
    Close(flow.EndTime());
}

void
CommonInterval::OnRunEnds()
{
    const auto& flows = m_network.GetScenario().flows;
    if (std::any_of(flows.begin(),
                    flows.end(),
                    [](const FlowEntry& x) { return x.flow.IsEndless(); }))
    {
        Close(m_network.EndTime());
    }
}

void
CommonInterval::Close(Picos end)
{
    if (!m_over && !m_receivedBytes.empty())
    {
        m_end = end;
        for (const QueuePair* live : m_network.LiveFlows())
        {
            uint64_t& bytes = m_receivedBytes[live->Id()];
            bytes = live->ReceivedBytes() - bytes;
        }
    }
    m_over = true;
}

} // namespace ns3::rdma
