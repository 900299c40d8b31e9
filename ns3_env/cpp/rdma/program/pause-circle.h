// SPDX-License-Identifier: GPL-2.0-or-later
// Ports whose PFC pauses wait for each other in a circle: a deadlock.
#pragma once

#include "fabric.h"

#include "ns3_env/cpp/run/run-report.h"

namespace ns3::env::rdma
{

/// Finds pauses that nothing can end any more. Queues of a switch with a port that is not paused are assumed to drain,
/// and with them the packets that they block; those that stay are packets that wait for each other's room. No circle is
/// returned that may dissolve by itself.
PauseCircle FindPauseCircle(const Fabric& fabric, const Scenario& scenario);

} // namespace ns3::env::rdma
