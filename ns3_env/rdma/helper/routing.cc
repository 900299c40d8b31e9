// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string>

namespace ns3::rdma
{

namespace
{
constexpr uint16_t UNREACHABLE = UINT16_MAX;
}

Routing::Routing(const Scenario& scenario)
    : m_isSwitch(scenario.isSwitch),
      m_neighbours(scenario.isSwitch.size()),
      m_distances(scenario.isSwitch.size())
{
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (size_t i = 0; i < scenario.links.size(); ++i)
    {
        const LinkSpec& link = scenario.links[i];
        const std::string where = "links[" + std::to_string(i) + "] joins " +
                                  std::to_string(link.a) + " and " + std::to_string(link.b);
        if (link.a == link.b)
        {
            throw ScenarioError(where + ": a link needs two different nodes");
        }
        if (!seen.emplace(std::minmax(link.a, link.b)).second)
        {
            throw ScenarioError(where + ": these nodes are already joined");
        }
        for (auto [from, to] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
        {
            const auto port = static_cast<uint32_t>(m_neighbours[from].size());
            m_neighbours[from].push_back({to, port, link.rateBps, link.delay});
        }
    }
    for (uint32_t node = 0; node < m_neighbours.size(); ++node)
    {
        if (!m_isSwitch[node] && m_neighbours[node].size() != 1)
        {
            throw ScenarioError("host " + std::to_string(node) + " has " +
                                std::to_string(m_neighbours[node].size()) +
                                " links, a host has exactly one");
        }
    }
}

const std::vector<uint16_t>&
Routing::DistancesTo(uint32_t host) const
{
    auto& distance = m_distances[host];
    if (!distance.empty())
    {
        return distance;
    }
    distance.assign(m_neighbours.size(), UNREACHABLE);
    distance[host] = 0;
    std::deque<uint32_t> front{host};
    while (!front.empty())
    {
        const uint32_t node = front.front();
        front.pop_front();
        for (const Neighbour& n : m_neighbours[node])
        {
            if (distance[n.node] == UNREACHABLE)
            {
                distance[n.node] = static_cast<uint16_t>(distance[node] + 1);
                if (m_isSwitch[n.node])
                {
                    front.push_back(n.node);
                }
            }
        }
    }
    return distance;
}

std::vector<std::pair<uint32_t, const Neighbour*>>
Routing::Path(uint32_t from, uint32_t to, const FiveTuple& tuple) const
{
    const auto& distance = DistancesTo(to);
    if (distance[from] == UNREACHABLE)
    {
        throw ScenarioError("there is no path from host " + std::to_string(from) + " to host " +
                            std::to_string(to));
    }
    if (distance[from] > MAX_INT_HOPS + 1)
    {
        throw ScenarioError("the path from host " + std::to_string(from) + " to host " +
                            std::to_string(to) + " has " + std::to_string(distance[from] - 1) +
                            " switches, telemetry can record " + std::to_string(MAX_INT_HOPS));
    }
    std::vector<std::pair<uint32_t, const Neighbour*>> path;
    std::vector<const Neighbour*> choices;
    for (uint32_t node = from; node != to; node = path.back().second->node)
    {
        choices.clear();
        for (const Neighbour& n : m_neighbours[node])
        {
            if (distance[n.node] + 1 == distance[node])
            {
                choices.push_back(&n);
            }
        }
        std::sort(choices.begin(),
                  choices.end(),
                  [](const Neighbour* a, const Neighbour* b) { return a->node > b->node; });
        const size_t pick = choices.size() == 1 ? 0 : EcmpHash(tuple, node) % choices.size();
        path.emplace_back(node, choices[pick]);
    }
    return path;
}

Picos
Routing::MaxBaseRtt(uint32_t payloadBytes, Rounding rounding) const
{
    Picos longest = 0;
    for (uint32_t to = 0; to < m_neighbours.size(); ++to)
    {
        if (m_isSwitch[to])
        {
            continue;
        }
        const auto& distance = DistancesTo(to);
        std::vector<uint32_t> order;
        for (uint32_t node = 0; node < distance.size(); ++node)
        {
            if (distance[node] != UNREACHABLE)
            {
                order.push_back(node);
            }
        }
        std::sort(order.begin(),
                  order.end(),
                  [&](uint32_t a, uint32_t b) { return distance[a] < distance[b]; });
        std::vector<Picos> cost(distance.size(), 0);
        for (uint32_t node : order)
        {
            for (const Neighbour& n : m_neighbours[node])
            {
                if (distance[n.node] + 1 == distance[node])
                {
                    cost[node] =
                        cost[n.node] + 2 * n.delay + IdealTime(payloadBytes, n.rateBps, rounding);
                    break;
                }
            }
            longest = m_isSwitch[node] ? longest : std::max(longest, cost[node]);
        }
    }
    return longest;
}

} // namespace ns3::rdma
