// SPDX-License-Identifier: GPL-2.0-or-later
// Reliability of a scenario, as it is read: recovery, corruption by link, answers of NICs.
#pragma once

#include "ns3_env/cpp/contract/reliability-config.h"
#include "ns3_env/cpp/engine/losses.h"

#include <cstdint>
#include <map>
#include <utility>

namespace ns3::env
{

class JsonReader;

/// Links with a corruption of their own instead of the general one, by source and destination node.
using LinkCorruption = std::map<std::pair<uint32_t, uint32_t>, Corruption>;

/// @name Reading
/// \throws ScenarioError
/// @{
SelectiveRepeatConfig ReadSelectiveRepeat(JsonReader section);
NicConfig ReadNic(JsonReader section);
/// `lastNode`: the largest id of a node.
LinkCorruption ReadCorruption(JsonReader& loss, uint32_t lastNode);
/// @}

} // namespace ns3::env
