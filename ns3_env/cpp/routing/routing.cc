// SPDX-License-Identifier: GPL-2.0-or-later
// Shortest paths over the switches, their ECMP choice, and times along a path.
#include "routing.h"

#include "ns3_env/cpp/contract/int-record.h"
#include "ns3_env/cpp/engine/heartbeat.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace ns3::env
{

Routing::Routing(const Scenario& scenario, const OrderMaker& makeOrder)
    : m_graph{scenario.isSwitch, std::vector<std::vector<Neighbour>>(scenario.isSwitch.size())},
      m_onward(scenario.isSwitch.size()),
      m_entry(scenario.isSwitch.size()),
      m_order(makeOrder(m_graph)),
      m_distances(scenario.isSwitch.size())
{
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (size_t i = 0; i < scenario.links.size(); ++i)
    {
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
    m_firstSwitch =
        static_cast<uint32_t>(std::find(scenario.isSwitch.begin(), scenario.isSwitch.end(), true) -
                              scenario.isSwitch.begin());
    for (uint32_t node = 0; node < m_graph.neighbours.size(); ++node)
    {
        if (!m_graph.isSwitch[node] && m_graph.neighbours[node].size() != 1)
        {
            throw ScenarioError("links",
                                "host " + std::to_string(node) + " has " +
                                    std::to_string(m_graph.neighbours[node].size()) +
                                    " links, a host has exactly one");
        }
        Arrange(node);
    }
}

void
Routing::Arrange(uint32_t node)
{
    const auto& neighbours = m_graph.neighbours[node];
    m_onward[node].clear();
    for (uint32_t i = 0; i < neighbours.size(); ++i)
    {
        const uint32_t other = neighbours[i].node;
        if (m_graph.isSwitch[other])
        {
            m_onward[node].push_back(i);
        }
        else
        {
            m_entry[other] = i;
        }
    }
}

const Routing::Distances&
Routing::DistancesTo(uint32_t gate) const
{
    Distances& distance = m_distances[gate];
    if (!distance.IsEmpty())
    {
        return distance;
    }
    Heartbeat::Beat();
    distance.Begin(gate, m_firstSwitch, m_graph.neighbours.size());
    std::deque<uint32_t> front;
    if (m_graph.isSwitch[gate])
    {
        front.push_back(gate);
    }
    while (!front.empty())
    {
        const uint32_t node = front.front();
        front.pop_front();
        for (const uint32_t i : m_onward[node])
        {
            const uint32_t next = m_graph.neighbours[node][i].node;
            if (distance[next] == UNREACHABLE)
            {
                distance.Set(next, static_cast<uint16_t>(distance[node] + 1));
                front.push_back(next);
            }
        }
    }
    return distance;
}

uint32_t
Routing::Distance(uint32_t from, uint32_t to) const
{
    const uint32_t first = GateOf(from);
    const uint32_t last = GateOf(to);
    if (first == NOWHERE || last == NOWHERE)
    {
        return UNREACHABLE;
    }
    if (first == to)
    {
        return 1;
    }
    const uint16_t between = DistancesTo(last)[first];
    return between == UNREACHABLE ? uint32_t{UNREACHABLE} : between + 2U;
}

void
Routing::NearerTo(uint32_t to, uint32_t node, std::vector<const Neighbour*>& hops) const
{
    hops.clear();
    const uint32_t gate = GateOf(to);
    if (gate == NOWHERE)
    {
        return;
    }
    const auto& neighbours = m_graph.neighbours[node];
    if (node == gate)
    {
        hops.push_back(&neighbours[m_entry[to]]);
        return;
    }
    const auto& distance = DistancesTo(gate);
    const bool fromHost = !m_graph.isSwitch[node];
    for (const uint32_t i : m_onward[node])
    {
        const uint16_t further = distance[neighbours[i].node];
        if (fromHost ? further != UNREACHABLE : further + 1 == distance[node])
        {
            hops.push_back(&neighbours[i]);
        }
    }
}

Hops
Routing::Path(uint32_t from, uint32_t to, const FiveTuple& tuple) const
{
    const uint32_t distance = Distance(from, to);
    if (distance == UNREACHABLE)
    {
        throw ScenarioError("links",
                            "there is no path from host " + std::to_string(from) + " to host " +
                                std::to_string(to));
    }
    if (distance > MAX_PATH_SWITCHES + 1)
    {
        throw ScenarioError("links",
                            "the path from host " + std::to_string(from) + " to host " +
                                std::to_string(to) + " has " + std::to_string(distance - 1) +
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
    Arrange(a);
    Arrange(b);
    for (Distances& distances : m_distances)
    {
        distances.Clear();
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

namespace
{

/// Hosts at one node with equal links.
struct AlikeHosts
{
    Picos time; ///< their link's contribution to a base RTT
    double rateBps;
    uint32_t first; ///< one of them
    uint32_t count;
};

/// Includes a path.
void
Extend(PathExtremes& largest, Picos baseRtt, double slowestBps, uint32_t switches)
{
    largest.baseRtt = std::max(largest.baseRtt, baseRtt);
    largest.bdpBytes = std::max(largest.bdpBytes, BdpBytes(baseRtt, slowestBps));
    largest.switches = std::max(largest.switches, switches);
}

} // namespace

PathExtremes
Routing::LargestOfPaths(uint32_t payloadBytes, Rounding rounding) const
{
    const auto timeOf = [&](const Neighbour& link)
    { return 2 * link.delay + IdealTime(payloadBytes, link.rateBps, rounding); };
    const auto nodes = static_cast<uint32_t>(m_graph.isSwitch.size());
    PathExtremes largest;
    std::map<uint32_t, std::map<std::pair<Picos, double>, AlikeHosts>> hosts; // by gate and link
    for (uint32_t host = 0; host < nodes; ++host)
    {
        const uint32_t gate = m_graph.isSwitch[host] ? NOWHERE : GateOf(host);
        if (gate == NOWHERE)
        {
            continue;
        }
        const Neighbour& link = m_graph.neighbours[host].front();
        if (!m_graph.isSwitch[gate])
        {
            Extend(largest, timeOf(link), link.rateBps, 0);
            continue;
        }
        const AlikeHosts fresh{timeOf(link), link.rateBps, host, 0};
        ++hosts[gate].try_emplace({fresh.time, fresh.rateBps}, fresh).first->second.count;
    }
    for (const auto& [gate, receivers] : hosts)
    {
        const auto& distance = DistancesTo(gate);
        const std::vector<Way> ways = CostliestTo(receivers.begin()->second.first, timeOf);
        for (const auto& [other, senders] : hosts)
        {
            if (distance[other] == UNREACHABLE)
            {
                continue;
            }
            const auto& [between, slowest] = ways[other];
            for (const auto& [to, receiver] : receivers)
            {
                for (const auto& [from, sender] : senders)
                {
                    if (&sender != &receiver || sender.count > 1)
                    {
                        Extend(largest,
                               sender.time + between + receiver.time,
                               std::min({sender.rateBps, slowest, receiver.rateBps}),
                               distance[other] + 1U);
                    }
                }
            }
        }
    }
    return largest;
}

std::vector<Routing::Way>
Routing::CostliestTo(uint32_t to, const TimeOfLink& timeOf) const
{
    const uint32_t gate = GateOf(to);
    const auto& distance = DistancesTo(gate);
    std::vector<uint32_t> order;
    const auto nodes = static_cast<uint32_t>(m_graph.neighbours.size());
    for (uint32_t node = std::min(gate, m_firstSwitch); node < nodes; ++node)
    {
        if (distance[node] != UNREACHABLE && node != gate)
        {
            order.push_back(node);
        }
    }
    std::sort(order.begin(),
              order.end(),
              [&](uint32_t a, uint32_t b) { return distance[a] < distance[b]; });
    std::vector<Way> ways(nodes, {0, std::numeric_limits<double>::max()});
    std::vector<const Neighbour*> choices;
    for (const uint32_t node : order)
    {
        NearerTo(to, node, choices);
        if (m_order->FirstPathSpeaks())
        {
            m_order->Sort(choices, to);
            choices.resize(1);
        }
        for (const Neighbour* n : choices)
        {
            if (const Picos by = ways[n->node].time + timeOf(*n); by > ways[node].time)
            {
                ways[node] = {by, std::min(ways[n->node].slowestBps, n->rateBps)};
            }
        }
    }
    return ways;
}

namespace
{

/// A multiple of a time, or the longest time.
Picos
Repeat(Picos time, Picos count)
{
    const double product = static_cast<double>(time) * static_cast<double>(count);
    return product < LONGEST_PS ? time * count : static_cast<Picos>(LONGEST_PS);
}

} // namespace

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
            last = std::max(first + Repeat(each, further), last + each);
            *free++ = last;
            first += link->delay;
            last += link->delay;
        }
        ++bytes;
    }
    m_arrival = last;
}

} // namespace ns3::env
