// SPDX-License-Identifier: GPL-2.0-or-later
// Assignment of a network's nodes to its parts, and traffic between parts.
#include "division.h"

#include <algorithm>
#include <limits>

namespace ns3::env::rdma
{

namespace
{

constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
constexpr uint32_t HOSTS_PER_PART = 32; ///< fits the second-level cache, with switches
constexpr Picos MOST_LOOKAHEAD = 10'000 * PS_PER_NS;
constexpr int64_t SURPLUS = 256; ///< packets of other pools that a pool may keep

/// The nodes' neighbours, in order of the links.
std::vector<std::vector<uint32_t>>
NeighboursOf(const Scenario& scenario)
{
    std::vector<std::vector<uint32_t>> neighbours(scenario.isSwitch.size());
    for (const LinkSpec& link : scenario.links)
    {
        neighbours[link.a].push_back(link.b);
        neighbours[link.b].push_back(link.a);
    }
    return neighbours;
}

/// Each node's rack: the first switch of a host, and of its further cards; a switch's own number.
std::vector<uint32_t>
RacksOf(const Scenario& scenario, const std::vector<std::vector<uint32_t>>& neighbours)
{
    std::vector<uint32_t> racks(scenario.isSwitch.size());
    for (uint32_t node = 0; node < racks.size(); ++node)
    {
        racks[node] = node;
        for (uint32_t other : neighbours[node])
        {
            if (!scenario.isSwitch[node] && scenario.isSwitch[other])
            {
                racks[node] = other;
                break;
            }
        }
    }
    for (const auto& [card, host] : scenario.hostOfCard)
    {
        racks[card] = racks[host];
    }
    return racks;
}

/// Gives switches without hosts to the part with which they share most links, on a tie to that with the fewest ports.
void
PlaceSwitches(const std::vector<std::vector<uint32_t>>& neighbours,
              uint32_t count,
              std::vector<uint32_t>& partOf)
{
    std::vector<size_t> ports(count, 0);
    for (size_t left = partOf.size(); left > 0;)
    {
        const std::vector<uint32_t> before = partOf;
        left = 0;
        bool moved = false;
        for (uint32_t node = 0; node < partOf.size(); ++node)
        {
            if (before[node] != NONE)
            {
                continue;
            }
            std::vector<size_t> links(count, 0);
            for (uint32_t other : neighbours[node])
            {
                links[before[other] == NONE ? 0 : before[other]] += before[other] == NONE ? 0 : 1;
            }
            uint32_t best = 0;
            for (uint32_t part = 1; part < count; ++part)
            {
                const bool better = links[part] > links[best] ||
                                    (links[part] == links[best] && ports[part] < ports[best]);
                best = better ? part : best;
            }
            if (links[best] == 0)
            {
                ++left;
                continue;
            }
            moved = true;
            partOf[node] = best;
            ports[best] += neighbours[node].size();
        }
        if (!moved) // nodes without a link towards a host
        {
            std::replace(partOf.begin(), partOf.end(), NONE, uint32_t{0});
            return;
        }
    }
}

} // namespace

std::optional<Division>
Divide(const Scenario& scenario, uint32_t parts)
{
    const auto neighbours = NeighboursOf(scenario);
    Division division{.partOf = {}, .count = 1, .racks = {{}, MOST_LOOKAHEAD}};
    division.racks.of = RacksOf(scenario, neighbours);
    const std::vector<uint32_t>& racks = division.racks.of;
    division.partOf.assign(racks.size(), NONE);
    for (const LinkSpec& link : scenario.links)
    {
        if (racks[link.a] != racks[link.b])
        {
            division.racks.lookahead = std::min(division.racks.lookahead, link.delay);
        }
    }
    for (const auto& [ends, schedule] : scenario.schedules)
    {
        if (racks[ends.first] != racks[ends.second])
        {
            division.racks.lookahead = std::min(division.racks.lookahead, schedule.LeastDelay());
        }
    }
    if (division.racks.lookahead == 0)
    {
        return std::nullopt;
    }
    std::vector<uint32_t> inOrder; // racks with hosts
    std::vector<uint32_t> hosts(racks.size(), 0);
    for (uint32_t node = 0; node < racks.size(); ++node)
    {
        if (!scenario.isSwitch[node] && hosts[racks[node]]++ == 0)
        {
            inOrder.push_back(racks[node]);
        }
    }
    const auto total = static_cast<uint64_t>(
        std::count(scenario.isSwitch.begin(), scenario.isSwitch.end(), false));
    const auto wanted = static_cast<uint32_t>((total + HOSTS_PER_PART - 1) / HOSTS_PER_PART);
    division.count =
        std::clamp<uint32_t>(std::max(wanted, parts), 1, static_cast<uint32_t>(inOrder.size()));
    uint64_t before = 0;
    for (uint32_t rack : inOrder)
    {
        division.partOf[rack] = static_cast<uint32_t>(before * division.count / total);
        before += hosts[rack];
    }
    for (uint32_t node = 0; node < racks.size(); ++node)
    {
        division.partOf[node] = division.partOf[racks[node]];
    }
    PlaceSwitches(neighbours, division.count, division.partOf);
    return division;
}

PartContexts::PartContexts(uint32_t parts)
    : m_passages(parts),
      m_towards(parts)
{
    for (uint32_t part = 0; part < parts; ++part)
    {
        m_contexts.push_back(std::make_unique<NetworkContext>());
    }
}

void
PartContexts::Enter(uint32_t part)
{
    // Little of it is cached: prefetch everything before use.
    for (const Passenger& passenger : m_towards[part])
    {
        __builtin_prefetch(passenger.packet, 1);
        passenger.into->PrefetchIncoming();
    }
    for (const Passenger& passenger : m_towards[part])
    {
        passenger.into->Expect(passenger.packet);
    }
    m_towards[part].clear();
}

Picos
PartContexts::Turn()
{
    Picos earliest = NEVER;
    for (Passage& passage : m_passages)
    {
        earliest = std::min(earliest, passage.Turn(m_towards));
    }
    for (const auto& context : m_contexts)
    {
        for (const auto& [flow, change] : context->ofOthers)
        {
            flow->CountPackets(change);
        }
        context->ofOthers.clear();
    }
    BalancePools();
    return earliest;
}

void
PartContexts::BalancePools()
{
    for (const auto& context : m_contexts)
    {
        if (context->pool.Balance() < -SURPLUS)
        {
            const auto neediest = std::max_element(
                m_contexts.begin(),
                m_contexts.end(),
                [](const auto& a, const auto& b) { return a->pool.Balance() < b->pool.Balance(); });
            (*neediest)->pool.Take(context->pool, SURPLUS);
        }
    }
}

} // namespace ns3::env::rdma
