// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorders.h"

namespace ns3::env
{

Recorders::Recorders(FlowRun& run)
    : counters(run),
      commonInterval(run)
{
    const Scenario& scenario = run.GetScenario();
    if (scenario.measurement)
    {
        measurement.emplace(run, *scenario.measurement);
    }
    if (scenario.recordWindows)
    {
        knobs.emplace(run);
    }
    if (scenario.queueSeriesInterval > 0)
    {
        queues.emplace(run, scenario.queueSeriesInterval);
    }
    if (scenario.recordEvents)
    {
        events.emplace(run);
    }
    if (scenario.recordControllerState)
    {
        states.emplace(run, ControllerLog::Kind::States);
    }
    if (scenario.recordControllerCounters)
    {
        counts.emplace(run, ControllerLog::Kind::Counters);
    }
}

} // namespace ns3::env
