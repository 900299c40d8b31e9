// SPDX-License-Identifier: GPL-2.0-or-later
// When were packets marked and ports paused? The single events behind the counts.
#ifndef RDMA_EVENT_LOG_H
#define RDMA_EVENT_LOG_H

#include "flow-run.h"

#include <deque>

namespace ns3::rdma
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
    explicit EventLog(FlowRun& run);

    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    const std::deque<MarkEvent>& Marks() const { return m_marks; }
    const std::deque<PauseEvent>& Pauses() const { return m_pauses; }

  private:
    std::deque<MarkEvent> m_marks;
    std::deque<PauseEvent> m_pauses;
};

} // namespace ns3::rdma

#endif // RDMA_EVENT_LOG_H
