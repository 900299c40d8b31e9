// SPDX-License-Identifier: GPL-2.0-or-later
// The key link_rates: links whose rate and delay change over time.
#pragma once

#include "ns3_env/cpp/engine/link-schedule.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::env
{

class JsonReader;
struct LinkSpec;
struct Scenario;

/// Links whose rate and delay change over time, by source and destination node.
using LinkSchedules = std::map<std::pair<uint32_t, uint32_t>, LinkSchedule>;

/// \throws ScenarioError if a schedule has no rate at its end, or there is no such link
LinkSchedules ReadLinkRates(JsonReader& root, const std::vector<LinkSpec>& links);

/// \throws ScenarioError if links change and have the published simulator's timing, or delays of fluid flows change
void CheckLinkRates(const Scenario& scenario, bool fluid);

} // namespace ns3::env
