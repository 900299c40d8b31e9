// SPDX-License-Identifier: GPL-2.0-or-later
// All shortest paths between two hosts at once, for packets that may each use a different one.
#include "spread.h"

#include <algorithm>
#include <map>
#include <set>

namespace ns3::env
{

namespace
{

Picos
Serialisation(uint64_t bytes, const Neighbour& link)
{
    return IdealTime(bytes, link.rateBps, Rounding::Exact);
}

/// Time of `count` frames over links that share them.
Picos
Through(uint64_t bytes, uint64_t count, const Hops& links)
{
    if (links.size() == 1)
    {
        return static_cast<Picos>(count) * Serialisation(bytes, *links.front().second);
    }
    double framesPerPico = 0;
    for (const auto& [node, link] : links)
    {
        framesPerPico += 1.0 / static_cast<double>(Serialisation(bytes, *link));
    }
    return static_cast<Picos>(static_cast<double>(count) / framesPerPico);
}

} // namespace

Spread::Spread(const Routing& routing, uint32_t from, uint32_t to)
{
    routing.Path(from, to, {}); // throws if there is none
    std::set<uint32_t> nodes{from};
    while (*nodes.begin() != to)
    {
        Hops& layer = m_layers.emplace_back();
        std::set<uint32_t> next;
        for (uint32_t node : nodes)
        {
            for (const Neighbour* link : routing.NextHops(node, to))
            {
                layer.emplace_back(node, link);
                next.insert(link->node);
            }
        }
        nodes = std::move(next);
    }
}

bool
Spread::IsOnePath() const
{
    return std::all_of(m_layers.begin(),
                       m_layers.end(),
                       [](const Hops& layer) { return layer.size() == 1; });
}

Picos
Spread::Arrival(uint64_t bytes, uint64_t count) const
{
    // Backwards: from the links of each distance on, the fastest path of a frame to the end.
    std::map<uint32_t, Picos> onward{{m_layers.back().front().second->node, 0}};
    std::vector<Picos> after(m_layers.size());
    for (size_t i = m_layers.size(); i-- > 0;)
    {
        std::map<uint32_t, Picos> here;
        after[i] = NEVER;
        for (const auto& [node, link] : m_layers[i])
        {
            const Picos rest = link->delay + onward.at(link->node);
            after[i] = std::min(after[i], rest);
            const Picos whole = rest + Serialisation(bytes, *link);
            const auto [at, isNew] = here.emplace(node, whole);
            at->second = std::min(at->second, whole);
        }
        onward = std::move(here);
    }
    std::map<uint32_t, Picos> reached{{m_layers.front().front().first, 0}};
    Picos latest = 0;
    for (size_t i = 0; i < m_layers.size(); ++i)
    {
        Picos before = NEVER;
        std::map<uint32_t, Picos> next;
        for (const auto& [node, link] : m_layers[i])
        {
            before = std::min(before, reached.at(node));
            const Picos there = reached.at(node) + Serialisation(bytes, *link) + link->delay;
            const auto [at, isNew] = next.emplace(link->node, there);
            at->second = std::min(at->second, there);
        }
        latest = std::max(latest, before + Through(bytes, count, m_layers[i]) + after[i]);
        reached = std::move(next);
    }
    return std::max(reached.begin()->second, count == 1 ? 0 : latest);
}

Picos
Spread::ArrivalBehind(uint64_t bytes, uint64_t count, uint64_t lastBytes) const
{
    return Through(bytes, count, m_layers.front()) + Travel(lastBytes);
}

} // namespace ns3::env
