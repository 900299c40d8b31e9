// SPDX-License-Identifier: GPL-2.0-or-later
// Small networks that tests run on.
#include "scenarios.h"

namespace ns3::env::test
{

Scenario
Dumbbell(uint32_t senders, double rateBps, Picos delay)
{
    Scenario s;
    s.timeLimit = 10 * PS_PER_SECOND;
    s.published = true;
    s.isSwitch.assign(senders + 1, false);
    s.isSwitch.insert(s.isSwitch.end(), 2, true);
    for (uint32_t i = 0; i < senders; ++i)
    {
        s.links.push_back({i, senders + 1, rateBps, delay});
    }
    s.links.push_back({senders + 1, senders + 2, rateBps, delay});
    s.links.push_back({senders + 2, senders, rateBps, delay});
    s.controllers.push_back({"fixed-window", {}});
    return s;
}

Scenario
FatTree16()
{
    constexpr Picos DELAY = 1000 * PS_PER_NS;
    Scenario s;
    s.timeLimit = 10 * PS_PER_SECOND;
    s.published = true;
    s.isSwitch.assign(16, false);
    s.isSwitch.insert(s.isSwitch.end(), 10, true);
    for (uint32_t host = 0; host < 16; ++host)
    {
        s.links.push_back({host, 16 + host / 4, 100e9, DELAY});
    }
    for (uint32_t tor = 16; tor < 20; ++tor)
    {
        const uint32_t pod = 20 + (tor - 16) / 2 * 2;
        s.links.push_back({tor, pod, 400e9, DELAY});
        s.links.push_back({tor, pod + 1, 400e9, DELAY});
    }
    for (uint32_t aggregation = 20; aggregation < 24; ++aggregation)
    {
        s.links.push_back({aggregation, 24, 400e9, DELAY});
        s.links.push_back({aggregation, 25, 400e9, DELAY});
    }
    s.controllers.push_back({"fixed-window", {}});
    return s;
}

void
AddFlow(Scenario& scenario, uint32_t from, uint32_t to, uint64_t bytes, Picos start)
{
    const auto id = static_cast<uint32_t>(scenario.flows.size());
    scenario.flows.push_back({{id, from, to, bytes, start}, 0, -1});
}

void
AddIncast(Scenario& scenario, uint32_t senders, uint64_t bytes, Picos apart)
{
    for (uint32_t sender = 0; sender < senders; ++sender)
    {
        AddFlow(scenario, sender, senders, bytes, sender * apart);
    }
}

} // namespace ns3::env::test
