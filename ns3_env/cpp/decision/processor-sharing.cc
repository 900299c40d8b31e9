// SPDX-License-Identifier: GPL-2.0-or-later
// Completion times of flows on links that are shared equally from now on (processor sharing).
#include "processor-sharing.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace ns3::env
{

std::map<uint32_t, double>
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
