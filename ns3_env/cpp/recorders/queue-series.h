// SPDX-License-Identifier: GPL-2.0-or-later
// Series of a run: queues' lengths, windows and rates, marks and pauses.
#pragma once

#include "ns3_env/cpp/run/episode.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace ns3::env
{

/// A switch marked a flow's data packet as it left.
struct MarkEvent
{
    Picos time;
    uint32_t flow;
};

/// A port's data class was paused by its peer, or resumed.
struct PauseEvent
{
    Picos time;
    uint32_t node;
    uint32_t port;
    bool paused;
};

/// Collects the events of a network, in the order in which they happen.
class EventLog
{
  public:
    explicit EventLog(Episode& episode);

    EventLog(EventLog&&) = delete;

    const std::deque<MarkEvent>& Marks() const { return m_marks; }
    const std::deque<PauseEvent>& Pauses() const { return m_pauses; }

  private:
    std::deque<MarkEvent> m_marks;
    std::deque<PauseEvent> m_pauses;
};

/// A flow's window and rate, at its start or after a change.
struct WindowChange
{
    Picos time;
    uint32_t flow;
    double windowBytes;
    double rateBps;
};

/// Collects the changes of all flows.
class WindowLog
{
  public:
    explicit WindowLog(Episode& episode);

    WindowLog(WindowLog&&) = delete;

    const std::deque<WindowChange>& Changes() const { return m_changes; }

  private:
    void OnChange(const FlowState& flow, Picos now);

    std::deque<WindowChange> m_changes;
};

/// Samples the egress queues of all switches while the network runs.
class QueueSampler
{
  public:
    QueueSampler(Episode& episode, Picos interval);

    QueueSampler(QueueSampler&&) = delete;

    const std::vector<Picos>& Times() const { return m_times; }
    /// Lengths (bytes) of the port of this node and index, one for each time.
    const std::vector<uint64_t>& Of(uint32_t node, uint32_t port) const
    {
        return m_lengths[m_place.at({node, port})];
    }

  private:
    void OnBegin();
    void Sample();

    const Episode& m_episode;
    Picos m_interval;
    std::vector<Picos> m_times;
    std::vector<std::vector<uint64_t>> m_lengths; ///< in the order in which the episode visits them
    std::map<std::pair<uint32_t, uint32_t>, size_t> m_place; ///< there, by node and port
};

} // namespace ns3::env
