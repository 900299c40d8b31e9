// SPDX-License-Identifier: GPL-2.0-or-later
// Results of switch ports as JSON: queues, losses, and ports that pause each other.
#pragma once

#include "columns.h"
#include "results.h"

#include <nlohmann/json.hpp>

namespace ns3::env
{

/// A record for each port of a switch that sent anything. \param columns receives series, if they are not to be in the JSON
nlohmann::json QueuesToJson(const Episode& episode, const Recorders& recorders, Columns* columns);

/// A record for each port and cause with losses, hosts' ports included.
nlohmann::json LossesToJson(const Episode& episode);

/// Adds the ports that pause each other forever, if any.
void AddPauseCircle(nlohmann::json& json, const Episode& episode);

} // namespace ns3::env
