// SPDX-License-Identifier: GPL-2.0-or-later
// Ports whose PFC pauses wait for each other in a circle: a deadlock.
#ifndef NS3_ENV_RDMA_PROGRAM_PAUSE_CIRCLE_H
#define NS3_ENV_RDMA_PROGRAM_PAUSE_CIRCLE_H

#include "fabric.h"

#include "ns3_env/cpp/run/run-report.h"

namespace ns3::env::rdma
{

/**
 * Looks for pauses that nothing can end any more. Of a switch's queues those whose port is not paused are taken to drain,
 * and with them what they hold back; what stays, whatever comes, are packets that wait for the room of one another.
 * No circle is returned that may dissolve by itself.
 */
PauseCircle FindPauseCircle(const Fabric& fabric, const Scenario& scenario);

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_PROGRAM_PAUSE_CIRCLE_H
