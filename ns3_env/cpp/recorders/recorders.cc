// SPDX-License-Identifier: GPL-2.0-or-later
// All recorders that a scenario asks for, hooked onto a run's traces.
#include "recorders.h"

namespace ns3::env
{

Recorders::Recorders(Episode& episode)
    : counters(episode),
      commonInterval(episode)
{
    const Scenario& scenario = episode.GetScenario();
    if (scenario.measurement)
    {
        measurement.emplace(episode, *scenario.measurement);
    }
    if (scenario.recordWindows)
    {
        windows.emplace(episode);
    }
    if (scenario.queueSeriesInterval > 0)
    {
        queues.emplace(episode, scenario.queueSeriesInterval);
    }
    if (scenario.recordEvents)
    {
        events.emplace(episode);
    }
    if (scenario.recordControllerState)
    {
        states.emplace(episode, ControllerLog::Kind::States);
    }
    if (scenario.recordControllerCounters)
    {
        counts.emplace(episode, ControllerLog::Kind::Counters);
    }
}

} // namespace ns3::env
