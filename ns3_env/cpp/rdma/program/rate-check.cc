// SPDX-License-Identifier: GPL-2.0-or-later
// Warning of flows whose least rates together exceed their receiver's link.
#include "rate-check.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace ns3::env::rdma
{

namespace
{

/// The most flows under way at one time, by receiving node.
std::map<uint32_t, int>
MostTogether(const RdmaEpisode& network)
{
    std::map<uint32_t, std::vector<std::pair<Picos, int>>> steps; // an end comes before a start
    for (const FlowEntry& entry : network.GetScenario().flows)
    {
        const FlowSpec& flow = entry.flow;
        const Picos end = network.Records()[flow.id].end;
        if (flow.start < network.EndTime())
        {
            steps[flow.destination].emplace_back(flow.start, 1);
            steps[flow.destination].emplace_back(end < 0 ? network.EndTime() : end, -1);
        }
    }
    std::map<uint32_t, int> most;
    for (auto& [node, changes] : steps)
    {
        std::sort(changes.begin(), changes.end());
        int now = 0;
        for (const auto& [time, step] : changes)
        {
            now += step;
            most[node] = std::max(most[node], now);
        }
    }
    return most;
}

} // namespace

std::string
LeastRateWarning(const RdmaEpisode& network)
{
    const std::optional<double> least = network.GetScenario().minRateBps;
    if (!least)
    {
        return {};
    }
    for (const auto& [node, flows] : MostTogether(network))
    {
        const double rate = network.Nics()[node]->RateBps();
        if (flows * *least > rate)
        {
            std::ostringstream text;
            text << "'min_rate_bps': " << flows << " flows x " << *least
                 << " bit/s = " << flows * *least << " bit/s exceed the link of host " << node
                 << ", " << rate << " bit/s: its queue cannot empty; " << rate / flows
                 << " would do";
            return text.str();
        }
    }
    return {};
}

} // namespace ns3::env::rdma
