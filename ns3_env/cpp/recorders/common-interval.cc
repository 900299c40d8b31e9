// SPDX-License-Identifier: GPL-2.0-or-later
// Payload that each flow received while all flows were active.
#include "common-interval.h"

#include "ns3_env/cpp/engine/now.h"

#include <algorithm>

namespace ns3::env
{

CommonInterval::CommonInterval(Episode& episode)
    : m_episode(episode)
{
    EpisodeTraces& traces = episode.Traces();
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
    m_receivedBytes.resize(m_episode.GetScenario().flows.size());
    for (const Flow* flow : m_episode.LiveFlows())
    {
        m_receivedBytes[flow->Id()] = flow->ReceivedBytes();
    }
}

void
CommonInterval::OnFinished(const Flow& flow)
{
    Close(flow.EndTime());
}

void
CommonInterval::OnRunEnds()
{
    const auto& flows = m_episode.GetScenario().flows;
    if (std::any_of(flows.begin(),
                    flows.end(),
                    [](const FlowEntry& x) { return x.flow.IsEndless(); }))
    {
        Close(m_episode.EndTime());
    }
}

void
CommonInterval::Close(Picos end)
{
    if (!m_over && !m_receivedBytes.empty())
    {
        m_end = end;
        for (const Flow* live : m_episode.LiveFlows())
        {
            uint64_t& bytes = m_receivedBytes[live->Id()];
            bytes = live->ReceivedBytes() - bytes;
        }
    }
    m_over = true;
}

} // namespace ns3::env
