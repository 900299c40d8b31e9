// SPDX-License-Identifier: GPL-2.0-or-later
// Log of single events: packets marked, ports paused and resumed.
#include "event-log.h"

#include "ns3_env/cpp/engine/now.h"

namespace ns3::env
{

EventLog::EventLog(Episode& episode)
{
    episode.TraceEvents([this](uint32_t flow) { m_marks.push_back({NowPicos(), flow}); },
                        [this](uint32_t node, uint32_t port, bool paused)
                        { m_pauses.push_back({NowPicos(), node, port, paused}); });
}

} // namespace ns3::env
