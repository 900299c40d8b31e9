// SPDX-License-Identifier: GPL-2.0-or-later
// Current simulated time.
#pragma once

#include "timeline.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/contract/units.h"

namespace ns3::env
{

/// Current simulated time.
inline Picos
NowPicos()
{
    const Timeline* timeline = Timeline::Current();
    if (timeline != nullptr) [[likely]]
    {
        return timeline->Now();
    }
    return Simulator::Now().GetTimeStep();
}

} // namespace ns3::env
