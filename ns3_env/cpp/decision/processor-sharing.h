// SPDX-License-Identifier: GPL-2.0-or-later
// Completion times of flows on links that are shared equally from now on (processor sharing).
#pragma once

#include "ns3_env/cpp/engine/flow.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

namespace ns3::env
{

/// Time that a link needs for the rest of the flow, in ps.
inline double
LeftOn(const Flow& flow, double bps)
{
    const PathFacts& path = flow.Path();
    const auto payload = static_cast<double>(flow.SizeBytes() - flow.AckedBytes());
    return payload * path.packetBytes / path.payloadBytes * 8e12 / bps;
}

/// Rate of a link on a path; the host's is the first.
inline double
RateOfLink(const PathFacts& path, size_t hop)
{
    return hop == 0 ? path.hostRateBps : path.hops[hop - 1].rateBps;
}

/// Time at which each finite flow would be done if none joined: on a link that is shared equally flow i needs the sum
/// over j of min(L_i, L_j), L the time that the link needs for the rest of a flow. A flow's time is the longest
/// of those at its path's links.
/// \return by flow, ps
inline std::map<uint32_t, double>
SharingTimes(const std::list<Flow*>& flows)
{
    std::unordered_map<uint64_t, std::vector<const Flow*>> onLink;
    for (const Flow* flow : flows)
    {
        if (flow->Standalone() > 0)
        {
            for (const uint64_t link : flow->Path().links)
            {
                onLink[link].push_back(flow);
            }
        }
    }
    std::map<uint32_t, double> times;
    for (const Flow* flow : flows)
    {
        if (flow->Standalone() <= 0)
        {
            continue;
        }
        double& longest = times[flow->Id()];
        const PathFacts& path = flow->Path();
        for (size_t hop = 0; hop < path.links.size(); ++hop)
        {
            const double bps = RateOfLink(path, hop);
            const double left = LeftOn(*flow, bps);
            double time = 0;
            for (const Flow* other : onLink.at(path.links[hop]))
            {
                time += std::min(left, LeftOn(*other, bps));
            }
            longest = std::max(longest, time);
        }
    }
    return times;
}

} // namespace ns3::env
