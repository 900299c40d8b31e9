// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC's selection of the state switch, the bottleneck hop, from a packet's telemetry.
#include "bottleneck-hop.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

double
WaitNs(const IntRecord& hop)
{
    return hop.rateBps > 0 ? hop.queueBytes * 8e9 / static_cast<double>(hop.rateBps) : 0.0;
}

/// Length of a hop's queue by `rule`; 0 if empty.
double
Length(const IntRecord& hop, const PathFacts& path, Bottleneck rule)
{
    if (rule == Bottleneck::LongestQueue)
    {
        return hop.queueBytes;
    }
    return hop.queueBytes > path.packetBytes ? WaitNs(hop) : 0.0;
}

/// Flows per unit of rate; the fair share is its inverse.
double
Crowding(const IntRecord& hop)
{
    const double flows = std::max<uint32_t>(hop.flows, 1);
    return flows / std::max(static_cast<double>(hop.rateBps), 1.0);
}

} // namespace

StateSwitch
SelectStateSwitch(std::span<const IntRecord> hops, const PathFacts& path, Bottleneck rule)
{
    StateSwitch state;
    if (hops.empty())
    {
        state.rateBps = path.hostRateBps;
        return state;
    }
    for (size_t i = 1; i < hops.size(); ++i)
    {
        const IntRecord& best = hops[state.hop];
        const double length = Length(hops[i], path, rule);
        const double longest = Length(best, path, rule);
        const bool bothEmpty = length == 0 && longest == 0;
        if (length > longest || (bothEmpty && Crowding(hops[i]) > Crowding(best)))
        {
            state.hop = i;
        }
    }
    const IntRecord& chosen = hops[state.hop];
    state.queueBytes = chosen.queueBytes;
    state.flows = std::max<uint32_t>(chosen.flows, 1);
    state.rateBps = static_cast<double>(chosen.rateBps);
    if (state.hop < path.hops.size())
    {
        const PathHop& place = path.hops[state.hop];
        state.inputDelayNs = static_cast<double>(place.inputDelay) / PS_PER_NS;
        state.feedbackDelayNs = static_cast<double>(place.feedbackDelay) / PS_PER_NS;
    }
    for (size_t i = 0; i < hops.size(); ++i)
    {
        if (i < state.hop)
        {
            state.inputDelayNs += WaitNs(hops[i]);
        }
        else if (i > state.hop)
        {
            state.feedbackDelayNs += WaitNs(hops[i]);
        }
    }
    return state;
}

} // namespace ns3::env
