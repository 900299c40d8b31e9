// SPDX-License-Identifier: GPL-2.0-or-later
// Log of single events: packets marked, ports paused and resumed.
#ifndef NS3_ENV_RECORDERS_EVENT_LOG_H
#define NS3_ENV_RECORDERS_EVENT_LOG_H

#include "ns3_env/cpp/run/episode.h"

#include <deque>

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

    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    const std::deque<MarkEvent>& Marks() const { return m_marks; }
    const std::deque<PauseEvent>& Pauses() const { return m_pauses; }

  private:
    std::deque<MarkEvent> m_marks;
    std::deque<PauseEvent> m_pauses;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_EVENT_LOG_H
