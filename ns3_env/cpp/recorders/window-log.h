// SPDX-License-Identifier: GPL-2.0-or-later
// Log of the changes of a flow's window or rate.
#ifndef NS3_ENV_RECORDERS_WINDOW_LOG_H
#define NS3_ENV_RECORDERS_WINDOW_LOG_H

#include "ns3_env/cpp/run/episode.h"

#include <deque>

namespace ns3::env
{

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

    WindowLog(const WindowLog&) = delete;
    WindowLog& operator=(const WindowLog&) = delete;

    const std::deque<WindowChange>& Changes() const { return m_changes; }

  private:
    void OnChange(const FlowState& flow, Picos now);

    std::deque<WindowChange> m_changes;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_WINDOW_LOG_H
