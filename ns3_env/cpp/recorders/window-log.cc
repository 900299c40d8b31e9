// SPDX-License-Identifier: GPL-2.0-or-later
// Log of the changes of a flow's window or rate.
#include "window-log.h"

namespace ns3::env
{

WindowLog::WindowLog(Episode& episode)
{
    episode.TraceWindowAndRate(MakeCallback(&WindowLog::OnChange, this));
}

void
WindowLog::OnChange(const FlowState& flow, Picos now)
{
    m_changes.push_back({now, flow.Id(), flow.WindowBytes(), flow.RateBps()});
}

} // namespace ns3::env
