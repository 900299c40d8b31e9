// SPDX-License-Identifier: GPL-2.0-or-later
#include "knob-log.h"

namespace ns3::env
{

KnobLog::KnobLog(FlowRun& run)
{
    run.TraceKnobs(MakeCallback(&KnobLog::OnKnobs, this));
}

void
KnobLog::OnKnobs(const FlowState& flow, Picos now)
{
    m_changes.push_back({now, flow.Id(), flow.WindowBytes(), flow.RateBps()});
}

} // namespace ns3::env
