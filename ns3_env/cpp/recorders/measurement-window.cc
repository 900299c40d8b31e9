// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes received, sent by switch ports and queued there within an interval of a run.
#include "measurement-window.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

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
        m_receivedBytes.resize(m_episode.GetScenario().flows.size()); // some may have been added
        for (const Flow* live : m_episode.LiveFlows())
        {
            uint64_t& bytes = m_receivedBytes[live->Id()];
            bytes = live->ReceivedBytes() - bytes;
        }
    }
    m_over = true;
}

MeasurementWindow::MeasurementWindow(Episode& episode, TimeSpan span)
    : m_episode(episode),
      m_span(span)
{
    EpisodeTraces& traces = episode.Traces();
    traces.begin.ConnectWithoutContext(MakeCallback(&MeasurementWindow::OnRunBegins, this));
    traces.ended.ConnectWithoutContext(MakeCallback(&MeasurementWindow::OnRunEnds, this));
}

void
MeasurementWindow::OnRunBegins()
{
    if (m_span.begin == 0)
    {
        Open(); // before anything is sent
    }
    else
    {
        Simulator::Schedule(Time(m_span.begin), &MeasurementWindow::Open, this);
    }
    Simulator::Schedule(Time(m_span.end), &MeasurementWindow::Close, this);
}

void
MeasurementWindow::OnRunEnds()
{
    if (!m_open)
    {
        Open();
    }
    if (!m_closed)
    {
        Close();
    }
}

void
MeasurementWindow::Open()
{
    m_open = true;
    m_receivedBytes = ReceivedSoFar();
    m_episode.ForEachQueue([this](const EgressQueue& queue)
                           { m_txBytes[{queue.node, queue.port}] = queue.txBytes; });
}

void
MeasurementWindow::Close()
{
    m_closed = true;
    std::vector<uint64_t> received = ReceivedSoFar();
    for (size_t i = 0; i < received.size(); ++i)
    {
        received[i] -= m_receivedBytes[i];
    }
    m_receivedBytes = std::move(received);
    const Picos now = NowPicos();
    m_episode.ForEachQueue(
        [&](const EgressQueue& queue)
        {
            if (queue.stats == nullptr)
            {
                return;
            }
            const std::pair key{queue.node, queue.port};
            PortCounts counts{queue.txBytes - m_txBytes.at(key), *queue.stats};
            if (now < m_span.end)
            {
                counts.queue.Update(0, now);
            }
            counts.queue.Finish(m_span.end);
            m_ports.emplace(key, std::move(counts));
        });
}

std::vector<uint64_t>
MeasurementWindow::ReceivedSoFar() const
{
    const auto& flows = m_episode.GetScenario().flows;
    std::vector<uint64_t> received(flows.size(), 0);
    for (size_t i = 0; i < flows.size(); ++i)
    {
        received[i] = m_episode.Records()[i].end >= 0 ? flows[i].flow.sizeBytes : 0;
    }
    for (const Flow* flow : m_episode.LiveFlows())
    {
        received[flow->Id()] = flow->ReceivedBytes();
    }
    return received;
}

} // namespace ns3::env
