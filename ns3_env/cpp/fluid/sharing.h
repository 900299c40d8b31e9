// SPDX-License-Identifier: GPL-2.0-or-later
// Ideals by which a fluid's flows share links, named as controllers are.
#pragma once

#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace ns3::env
{

/// Rule by which flows share a link.
enum class Sharing : uint8_t
{
    MaxMin,         ///< each flow its max-min fair rate
    LeastRemaining, ///< flows with less left before those with more (SRPT)
};

/// Sharing rules by a transport's names of fluids.
using Fluids = std::map<std::string, Sharing>;

/// Sharing rule of the scenario's flows; nothing if none of them is a fluid.
/// \throws ScenarioError if only some are
inline std::optional<Sharing>
SharingOf(const Scenario& scenario, const Fluids& fluids)
{
    std::set<std::string> names;
    for (const FlowEntry& entry : scenario.flows)
    {
        names.insert(scenario.controllers[entry.controller].name);
    }
    for (const auto& [name, sharing] : fluids)
    {
        if (!names.contains(name))
        {
            continue;
        }
        if (names.size() > 1)
        {
            const std::string& other = *names.begin() == name ? *names.rbegin() : *names.begin();
            throw ScenarioError("controllers",
                                "'" + name +
                                    "' is a reference without packets: all flows are "
                                    "under it or none, and some are under '" +
                                    other + "'");
        }
        return sharing;
    }
    return {};
}

} // namespace ns3::env
