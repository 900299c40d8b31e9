// SPDX-License-Identifier: GPL-2.0-or-later
// Results of an episode as JSON: flows, queues and totals.
#ifndef NS3_ENV_RECORDERS_RESULTS_H
#define NS3_ENV_RECORDERS_RESULTS_H

#include "recorders.h"

#include "ns3_env/cpp/run/episode.h"

#include <string>

namespace ns3::env
{

/**
 * The results of a run that is over: times in ns, sizes in bytes, -1 for what did not happen.
 * `counters` holds what controllers counted, over all flows, `flow_counters` by flow (null: not this one's).
 * Series stand there where the scenario asked for them.
 */
std::string ResultsToJson(const Episode& episode, const Recorders& recorders);

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_RESULTS_H
