// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of a scenario's flows, and their facts before the first packets.
#include "paths.h"

#include "ns3_env/cpp/rdma/link/packet.h"
#include "ns3_env/cpp/rdma/published/rules.h"
#include "ns3_env/cpp/routing/spread.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace ns3::env::rdma
{

namespace
{

constexpr uint16_t DESTINATION_PORT = 100;
/// Of the hash that picks a detour; no node has such an id.
constexpr uint32_t DETOUR_SEED = UINT32_MAX;
/// Far from the ports of flows, so that a stream does not change which of several equal paths a flow uses.
constexpr uint16_t FIRST_STREAM_PORT = 40000;

std::unique_ptr<const NetworkRules>
MakeRules(const Scenario& scenario)
{
    if (scenario.published)
    {
        return std::make_unique<published::Rules>(scenario.priorityGroup);
    }
    return std::make_unique<NetworkRules>();
}

/// Reports whether, outside the published preset, a flow's packets may take several paths without a failure.
bool
IsSpread(const Scenario& scenario)
{
    const auto& paths = scenario.paths;
    return !scenario.published && paths &&
           (paths->balancing != Balancing::Flowlet || paths->gap < scenario.timeLimit);
}

/// Lower bound of the completion time of packets that may use all of these paths.
Picos
SpreadTime(uint64_t sizeBytes, uint64_t payloadBytes, const Spread& data, const Spread& acks)
{
    const uint64_t before = (sizeBytes - 1) / payloadBytes;
    const uint64_t last = sizeBytes - before * payloadBytes;
    const uint64_t full = payloadBytes + DATA_HEADER_BYTES;
    const uint64_t whole = before + (last == payloadBytes ? 1 : 0);
    const Picos there = std::max(data.ArrivalBehind(full, before, last + DATA_HEADER_BYTES),
                                 whole > 0 ? data.Arrival(full, whole) : 0);
    return there + acks.Travel(AckBytes(0));
}

} // namespace

Paths::Paths(const Scenario& scenario)
    : m_scenario(scenario),
      m_rules(MakeRules(m_scenario)),
      m_routing(m_scenario,
                [this](const Graph& graph) { return m_rules->MakeNextHopOrder(graph); }),
      m_isSpread(IsSpread(m_scenario)),
      m_extremes(m_routing.LargestOfPaths(m_scenario.payloadBytes, m_rules->GetRounding()))
{
    if (m_scenario.detours)
    {
        for (uint32_t node = 0; node < m_scenario.isSwitch.size(); ++node)
        {
            if (!m_scenario.isSwitch[node])
            {
                m_detours.push_back(node);
            }
        }
        // Two shortest paths in a row are at most twice the longest.
        m_extremes.baseRtt *= 2;
        m_extremes.bdpBytes *= 2;
        m_extremes.switches *= 2;
    }
    m_extremes.baseRtt += m_scenario.nic.ackDelay;
}

FiveTuple
Paths::TupleOf(const FlowSpec& spec, uint16_t sourcePort)
{
    return {NodeAddress(spec.source), NodeAddress(spec.destination), sourcePort, DESTINATION_PORT};
}

RoundTrip
Paths::Of(const FlowSpec& spec, uint16_t sourcePort) const
{
    const FiveTuple tuple = TupleOf(spec, sourcePort);
    return {PathOf(spec.source, spec.destination, tuple),
            PathOf(spec.destination, spec.source, tuple.Reversed())};
}

Hops
Paths::PathOf(uint32_t from, uint32_t to, const FiveTuple& tuple) const
{
    if (m_detours.empty())
    {
        return m_routing.Path(from, to, tuple);
    }
    const uint32_t via = m_detours[EcmpHash(tuple, DETOUR_SEED) % m_detours.size()];
    if (via == from || via == to)
    {
        return m_routing.Path(from, to, tuple);
    }
    Hops path = m_routing.Path(from, via, tuple);
    path.pop_back(); // the switch turns off to the host
    const Hops rest = m_routing.Path(via, to, tuple);
    path.insert(path.end(), rest.begin() + 1, rest.end());
    if (path.size() > MAX_PATH_SWITCHES + 1)
    {
        throw ScenarioError("load_balancing",
                            "the path from host " + std::to_string(from) + " to host " +
                                std::to_string(to) + " by host " + std::to_string(via) + " has " +
                                std::to_string(path.size() - 1) + " switches, there may be " +
                                std::to_string(MAX_PATH_SWITCHES));
    }
    return path;
}

PathFacts
Paths::Describe(const RoundTrip& path) const
{
    const auto& [forward, backward] = path;
    PathFacts facts;
    facts.rounding = m_rules->GetRounding();
    facts.windowsWrap = m_rules->WrapsWindows();
    facts.payloadBytes = m_scenario.payloadBytes;
    facts.hostRateBps = forward.front().second->rateBps;
    facts.minRateBps = m_scenario.minRateBps.value_or(facts.hostRateBps / 100);
    facts.maxBaseRtt = m_extremes.baseRtt;
    Picos back = m_scenario.nic.ackDelay;
    for (const auto& [node, link] : backward)
    {
        back += link->delay + IdealTime(MIN_FRAME_BYTES, link->rateBps, facts.rounding);
    }
    Picos oneWay = 0;
    for (const auto& [node, link] : forward)
    {
        const Picos serialise = IdealTime(facts.payloadBytes, link->rateBps, facts.rounding);
        if (node != forward.front().first)
        {
            facts.hops.push_back({link->rateBps, oneWay, -oneWay});
        }
        oneWay += link->delay + serialise;
    }
    for (PathHop& hop : facts.hops)
    {
        hop.feedbackDelay += oneWay + back;
    }
    facts.links = LinkIds(forward);
    Measure(m_routing.MeasuredPath(forward), facts);
    facts.bdpBytes = BdpBytes(facts.baseRtt, facts.hostRateBps);
    facts.maxBdpBytes = m_rules->MaxBdp(facts, m_extremes.bdpBytes);
    return facts;
}

void
Paths::Measure(const Hops& path, PathFacts& facts) const
{
    facts.slowestBps = facts.hostRateBps;
    facts.baseRtt = m_scenario.nic.ackDelay;
    for (const auto& [node, link] : path)
    {
        facts.baseRtt +=
            2 * link->delay + IdealTime(facts.payloadBytes, link->rateBps, facts.rounding);
        facts.slowestBps = std::min(facts.slowestBps, link->rateBps);
    }
}

Picos
Paths::Standalone(const FlowSpec& spec, const PathFacts& facts, const RoundTrip& path) const
{
    if (spec.IsEndless())
    {
        return -1;
    }
    const Picos delay = m_scenario.nic.ackDelay;
    if (m_isSpread)
    {
        const Spread data(m_routing, spec.source, spec.destination);
        const Spread acks(m_routing, spec.destination, spec.source);
        if (!data.IsOnePath() || !acks.IsOnePath())
        {
            return SpreadTime(spec.sizeBytes, facts.payloadBytes, data, acks) + delay;
        }
    }
    const uint32_t ackEvery = m_scenario.nic.ackEvery;
    return delay +
           m_rules->Standalone(spec.sizeBytes, facts, path.forward, path.backward, ackEvery);
}

std::vector<uint16_t>
StreamPorts(const Scenario& scenario)
{
    std::vector<uint16_t> ports;
    std::map<std::pair<uint32_t, uint32_t>, uint16_t> count; // streams so far per host pair
    for (const StreamEntry& entry : scenario.streams)
    {
        const FlowSpec& spec = entry.flow;
        ports.push_back(
            static_cast<uint16_t>(FIRST_STREAM_PORT + count[{spec.source, spec.destination}]++));
    }
    return ports;
}

} // namespace ns3::env::rdma
