// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorders.h"

namespace ns3::rdma
{

Recorders::Recorders(Network& network)
    : counters(network),
      commonInterval(network)
{
    const Scenario& scenario = network.GetScenario();
    if (scenario.measurement)
    {
        measurement.emplace(network, *scenario.measurement);
    }
    if (scenario.recordWindows)
    {
        knobs.emplace(network);
    }
    if (scenario.queueSeriesInterval > 0)
    {
        queues.emplace(network, scenario.queueSeriesInterval);
    }
    if (scenario.recordEvents)
    {
        events.emplace(network);
    }
    if (scenario.recordControllerState)
    {
        states.emplace(network, ControllerLog::Kind::States);
    }
    if (scenario.recordControllerCounters)
    {
        counts.emplace(network, ControllerLog::Kind::Counters);
    }
}

} // namespace ns3::rdma
