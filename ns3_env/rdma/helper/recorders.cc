// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorders.h"

namespace ns3::rdma
{

Recorders::Recorders(Network& network)
    : counters(network),
      commonInterval(network)
{
    const Scenario& scenario = network.GetScenario();
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
}

} // namespace ns3::rdma
