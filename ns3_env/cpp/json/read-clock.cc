// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the clock ("clock", "decision_quantum_ns") of a scenario or of a policy's file.
#include "read-clock.h"

#include "bounds.h"

namespace ns3::env
{

ClockSpec
ReadClock(JsonReader& root)
{
    ClockSpec spec;
    JsonReader clock = root.Sub("clock");
    const auto name =
        clock.OneOf("name", {"per_flow_rtt", "per_ack", "per_notification", "synchronous"});
    if (name == "per_flow_rtt")
    {
        spec.rttFraction = clock.Number("rtt_fraction", 0.0, bounds::RTTS);
    }
    else if (name == "per_ack")
    {
        spec.rttFraction = 0.0;
    }
    else if (name == "per_notification")
    {
        spec.onNotification = true;
    }
    else
    {
        spec.interval = clock.Whole<int64_t>("interval_ns", 1, bounds::TIME_NS) * PS_PER_NS;
    }
    clock.RefuseOthers();
    const Picos quantum =
        root.Whole<int64_t>("decision_quantum_ns", 0, bounds::TIME_NS, int64_t{0}) * PS_PER_NS;
    if (name != "per_ack" || quantum > 0)
    {
        spec.quantum = quantum;
    }
    return spec;
}

} // namespace ns3::env
