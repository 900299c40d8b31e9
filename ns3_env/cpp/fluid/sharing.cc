// SPDX-License-Identifier: GPL-2.0-or-later
// Ideals by which a fluid's flows share links, named as controllers are.
#include "sharing.h"

#include <set>

namespace ns3::env
{

std::optional<Sharing>
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
