// SPDX-License-Identifier: GPL-2.0-or-later
#include "window-log.h"

namespace ns3::env
{

WindowLog::WindowLog(FlowRun& run)
{
    run.TraceKnobs(MakeCallback(&WindowLog::OnKnobs, this));
}

void
WindowLog::OnKnobs(const FlowState& flow, Picos now)
{
    m_changes.push_back({now, flow.Id(), flow.WindowBytes(), flow.RateBps()});
}

} // namespace ns3::env
