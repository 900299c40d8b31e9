// SPDX-License-Identifier: GPL-2.0-or-later
// Results of flows and steps with dependencies: the end and the job of each.
#pragma once

#include "ns3_env/cpp/run/episode.h"

#include <nlohmann/json_fwd.hpp>

namespace ns3::env
{

/// Adds the column "delivered_ns" to the results' flows, and the tables "steps" and "jobs"; nothing if no flow waits.
void AddTasks(nlohmann::json& results, const Episode& episode);

} // namespace ns3::env
