// SPDX-License-Identifier: GPL-2.0-or-later
// Shortest paths over the switches, their ECMP choice, and times along a path.
#include "routing.h"

#include "ns3_env/cpp/contract/int-record.h"
#include "ns3_env/cpp/engine/heartbeat.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <string>

namespace ns3::env
{

namespace
{
constexpr uint16_t UNREACHABLE = UINT16_MAX;
}

Routing::Routing(const Scenario& scenario, const OrderMaker& makeOrder)
    : m_graph{scenario.isSwitch, std::vector<std::vector<Neighbour>>(scenario.isSwitch.size())},
      m_order(makeOrder(m_graph)),
      m_distances(scenario.isSwitch.size())
{
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (size_t i = 0; i < scenario.links.size(); ++i)
    {
        Heartbeat::Beat();
        const LinkSpec& link = scenario.links[i];
        const std::string where = "link " + std::to_string(i) + " joins " + std::to_string(link.a) +
                                  " and " + std::to_string(link.b);
        if (link.a == link.b)
        {
            throw ScenarioError("links", where + ": a link needs two different nodes");
        }
        if (!seen.emplace(std::minmax(link.a, link.b)).second)
        {
            throw ScenarioError("links", where + ": these nodes are already joined");
        }
        for (auto [from, to] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
        {
            const auto port = static_cast<uint32_t>(m_graph.neighbours[from].size());
            m_graph.neighbours[from].push_back({to, port, link.rateBps, link.delay});
        }
    }
    for (uint32_t node = 0; node < m_graph.neighbours.size(); ++node)
    {
        if (!m_graph.isSwitch[node] && m_graph.neighbours[node].size() != 1)
        {
            throw ScenarioError("links",
                                "host " + std::to_string(node) + " has " +
                                    std::to_string(m_graph.neighbours[node].size()) +
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
    Heartbeat::Beat();
    distance.assign(m_graph.neighbours.size(), UNREACHABLE);
    distance[host] = 0;
    std::deque<uint32_t> front{host};
    while (!front.empty())
    {
        const uint32_t node = front.front();
        front.pop_front();
        for (const Neighbour& n : m_graph.neighbours[node])
        {
            if (distance[n.node] == UNREACHABLE)
            {
                distance[n.node] = static_cast<uint16_t>(distance[node] + 1);
                if (m_graph.isSwitch[n.node])
                {
                    front.push_back(n.node);
                }
            }
        }
    }
    return distance;
}

void
Routing::NearerTo(uint32_t to, uint32_t node, std::vector<const Neighbour*>& hops) const
{
    const auto& distance = DistancesTo(to);
    hops.clear();
    for (const Neighbour& n : m_graph.neighbours[node])
    {
        if (distance[n.node] + 1 == distance[node])
        {
            hops.push_back(&n);
        }
    }
}

Hops
Routing::Path(uint32_t from, uint32_t to, const FiveTuple& tuple) const
{
    const auto& distance = DistancesTo(to);
    if (distance[from] == UNREACHABLE)
    {
        throw ScenarioError("links",
                            "there is no path from host " + std::to_string(from) + " to host " +
                                std::to_string(to));
    }
    if (distance[from] > MAX_PATH_SWITCHES + 1)
    {
        throw ScenarioError("links",
                            "the path from host " + std::to_string(from) + " to host " +
                                std::to_string(to) + " has " + std::to_string(distance[from] - 1) +
                                " switches, there may be " + std::to_string(MAX_PATH_SWITCHES));
    }
    Hops path;
    std::vector<const Neighbour*> choices;
    for (uint32_t node = from; node != to; node = path.back().second->node)
    {
        NearerTo(to, node, choices);
        m_order->Sort(choices, to);
        const size_t pick = choices.size() == 1 ? 0 : EcmpHash(tuple, node) % choices.size();
        path.emplace_back(node, choices[pick]);
    }
    return path;
}

std::vector<const Neighbour*>
Routing::NextHops(uint32_t node, uint32_t to) const
{
    std::vector<const Neighbour*> hops;
    NearerTo(to, node, hops);
    m_order->Sort(hops, to);
    return hops;
}

void
Routing::SetLink(uint32_t a, uint32_t b, bool up)
{
    for (const auto& [node, other] : {std::pair{a, b}, std::pair{b, a}})
    {
        auto& neighbours = m_graph.neighbours[node];
        if (!up)
        {
            const auto at = std::find_if(neighbours.begin(),
                                         neighbours.end(),
                                         [&](const Neighbour& n) { return n.node == other; });
            m_missing.emplace_back(node, *at);
            neighbours.erase(at);
            continue;
        }
        const auto at =
            std::find_if(m_missing.begin(),
                         m_missing.end(),
                         [&](const auto& x) { return x.first == node && x.second.node == other; });
        const auto before =
            std::find_if(neighbours.begin(),
                         neighbours.end(),
                         [&](const Neighbour& n) { return n.port > at->second.port; });
        neighbours.insert(before, at->second);
        m_missing.erase(at);
    }
    for (auto& distances : m_distances)
    {
        distances.clear();
    }
}

Hops
Routing::MeasuredPath(const Hops& path) const
{
    if (!m_order->FirstPathSpeaks())
    {
        return path;
    }
    const uint32_t to = path.back().second->node;
    Hops first;
    std::vector<const Neighbour*> choices;
    for (uint32_t node = path.front().first; node != to; node = first.back().second->node)
    {
        NearerTo(to, node, choices);
        m_order->Sort(choices, to);
        first.emplace_back(node, choices.front());
    }
    return first;
}

PathExtremes
Routing::LargestOfPaths(uint32_t payloadBytes, Rounding rounding) const
{
    const auto nodes = static_cast<uint32_t>(m_graph.isSwitch.size());
    const bool first = m_order->FirstPathSpeaks();
    PathExtremes largest;
    std::vector<const Neighbour*> choices;
    for (uint32_t to = 0; to < nodes; ++to)
    {
        if (m_graph.isSwitch[to])
        {
            continue;
        }
        Heartbeat::Beat();
        const auto& distance = DistancesTo(to);
        std::vector<uint32_t> order;
        for (uint32_t node = 0; node < nodes; ++node)
        {
            if (distance[node] != UNREACHABLE && node != to)
            {
                order.push_back(node);
            }
        }
        std::sort(order.begin(),
                  order.end(),
                  [&](uint32_t a, uint32_t b) { return distance[a] < distance[b]; });
        std::vector<Picos> cost(nodes, 0);
        std::vector<double> slowest(nodes,
                                    std::numeric_limits<double>::max()); // of the costliest path
        for (uint32_t node : order)
        {
            NearerTo(to, node, choices);
            if (first)
            {
                m_order->Sort(choices, to);
                choices.resize(1);
            }
            for (const Neighbour* n : choices)
            {
                const Picos by =
                    cost[n->node] + 2 * n->delay + IdealTime(payloadBytes, n->rateBps, rounding);
                if (by > cost[node])
                {
                    cost[node] = by;
                    slowest[node] = std::min(slowest[n->node], n->rateBps);
                }
            }
            if (!m_graph.isSwitch[node])
            {
                largest.baseRtt = std::max(largest.baseRtt, cost[node]);
                largest.bdpBytes = std::max(largest.bdpBytes, BdpBytes(cost[node], slowest[node]));
                largest.switches = std::max<uint32_t>(largest.switches, distance[node] - 1);
            }
        }
    }
    return largest;
}

Pipeline::Pipeline(std::initializer_list<const Hops*> legs)
    : m_legs(legs)
{
    size_t links = 0;
    for (const Hops* leg : m_legs)
    {
        links += leg->size();
    }
    m_free.resize(links, 0);
}

void
Pipeline::Pass(std::initializer_list<uint64_t> bytesOnLegs, uint64_t count)
{
    if (count == 0)
    {
        return;
    }
    const Picos further = static_cast<Picos>(count) - 1;
    Picos first = 0; // when the first of them is at the link
    Picos last = 0;  // when the last of them is
    auto free = m_free.begin();
    auto bytes = bytesOnLegs.begin();
    for (const Hops* leg : m_legs)
    {
        for (const auto& [node, link] : *leg)
        {
            const Picos each = IdealTime(*bytes, link->rateBps, Rounding::Exact);
            first = std::max(first, *free) + each;
            // Frames of one size leave a link in times that are the largest of several straight lines, so that the
            // last one waits for the first one or for none.
            last = std::max(first + further * each, last + each);
            *free++ = last;
            first += link->delay;
            last += link->delay;
        }
        ++bytes;
    }
    m_arrival = last;
}

} // namespace ns3::env
