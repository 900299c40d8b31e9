// SPDX-License-Identifier: GPL-2.0-or-later
// Small networks that tests run on.
#include "scenarios.h"

namespace ns3::env::test
{

Scenario
NetworkOf(uint32_t hosts,
          uint32_t switches,
          const std::vector<std::pair<uint32_t, uint32_t>>& links,
          double rateBps,
          Picos delay)
{
    Scenario s;
    s.timeLimit = 10 * PS_PER_SECOND;
    s.isSwitch.assign(hosts, false);
    s.isSwitch.resize(hosts + switches, true);
    for (const auto& [a, b] : links)
    {
        s.links.push_back({a, b, rateBps, delay});
    }
    s.controllers.push_back({"fixed-window", {}});
    return s;
}

Scenario
Dumbbell(uint32_t senders, double rateBps, Picos delay)
{
    std::vector<std::pair<uint32_t, uint32_t>> links;
    for (uint32_t i = 0; i < senders; ++i)
    {
        links.emplace_back(i, senders + 1);
    }
    links.emplace_back(senders + 1, senders + 2);
    links.emplace_back(senders + 2, senders);
    Scenario s = NetworkOf(senders + 1, 2, links, rateBps, delay);
    s.published = true;
    return s;
}

Scenario
Exact(uint32_t senders, const std::vector<FlowRow>& flows, const std::string& controller)
{
    Scenario s = Dumbbell(senders, 100e9);
    s.published = false;
    s.controllers[0].name = controller;
    AddFlows(s, flows);
    return s;
}

Scenario
LeafSpine(uint32_t leaves, uint32_t hosts, uint32_t spines, double rateBps)
{
    const uint32_t leaf = leaves * hosts;
    std::vector<std::pair<uint32_t, uint32_t>> links;
    for (uint32_t host = 0; host < leaf; ++host)
    {
        links.emplace_back(host, leaf + host / hosts);
    }
    for (uint32_t i = 0; i < leaves * spines; ++i)
    {
        links.emplace_back(leaf + i / spines, leaf + leaves + i % spines);
    }
    return NetworkOf(leaf, leaves + spines, links, rateBps);
}

Scenario
FatTree16()
{
    std::vector<std::pair<uint32_t, uint32_t>> links;
    for (uint32_t host = 0; host < 16; ++host)
    {
        links.emplace_back(host, 16 + host / 4);
    }
    for (uint32_t up = 0; up < 16; ++up) // two of each ToR, then two of each aggregation switch
    {
        const uint32_t from = 16 + up / 2;
        links.emplace_back(from, from < 20 ? 20 + up / 4 * 2 + up % 2 : 24 + up % 2);
    }
    Scenario s = NetworkOf(16, 10, links, 400e9);
    for (uint32_t host = 0; host < 16; ++host)
    {
        s.links[host].rateBps = 100e9;
    }
    s.published = true;
    return s;
}

void
AddFlow(Scenario& scenario, uint32_t from, uint32_t to, uint64_t bytes, Picos start)
{
    const auto id = static_cast<uint32_t>(scenario.flows.size());
    scenario.flows.push_back({{id, from, to, bytes, start}, 0, -1});
}

void
AddFlows(Scenario& scenario, const std::vector<FlowRow>& flows)
{
    for (const FlowRow& row : flows)
    {
        AddFlow(scenario, row.from, row.to, row.bytes, row.start);
        scenario.flows.back().flow.trafficClass = row.trafficClass;
    }
}

void
AddIncast(Scenario& scenario, uint32_t senders, uint64_t bytes, Picos apart)
{
    for (uint32_t sender = 0; sender < senders; ++sender)
    {
        AddFlow(scenario, sender, senders, bytes, sender * apart);
    }
}

void
AddStream(Scenario& scenario, uint32_t from, uint32_t to, double rateBps, Picos start, Picos stop)
{
    const auto id = static_cast<uint32_t>(scenario.flows.size() + scenario.streams.size());
    scenario.streams.push_back({{id, from, to, ENDLESS_BYTES, start}, rateBps, stop});
}

void
SetWindow(Scenario& scenario, uint64_t bytes)
{
    scenario.controllers[0].attributes = {{"Window", std::to_string(bytes)}};
}

} // namespace ns3::env::test
