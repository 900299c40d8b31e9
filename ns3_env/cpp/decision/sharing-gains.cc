// SPDX-License-Identifier: GPL-2.0-or-later
// Gains of flows over processor sharing, for flows that delay each other.
#include "sharing-gains.h"

#include "flow-costs.h"
#include "processor-sharing.h"

#include <algorithm>

namespace ns3::env
{

void
SharingGains::Member::Settle(Picos now)
{
    cost += rate * static_cast<double>(now - since);
    since = now;
}

template <typename Change>
void
SharingGains::ForAllOn(uint64_t link, Change&& change)
{
    for (Member* member : m_onLink[link])
    {
        if (member->link == link)
        {
            change(*member);
        }
    }
}

double
SharingGains::TimeOn(const Flow& flow, uint64_t link, double bps) const
{
    const double left = LeftOn(flow, bps);
    double time = 0;
    for (const Member* other : m_onLink.at(link))
    {
        time += std::min(left, LeftOn(*other->flow, bps));
    }
    return time;
}

double
SharingGains::CostOn(uint64_t link, double bps)
{
    m_work.clear();
    for (const Member* member : m_onLink[link])
    {
        m_work.push_back({LeftOn(*member->flow, bps), CostRate(*member->flow)});
    }
    std::ranges::sort(m_work, {}, &Work::left);
    double cost = 0;
    double done = 0; // remaining work of flows that end before
    for (size_t i = 0; i < m_work.size(); ++i)
    {
        const auto& [left, rate] = m_work[i];
        cost += rate * (done + left * static_cast<double>(m_work.size() - i));
        done += left;
    }
    return cost;
}

void
SharingGains::Choose(Member& member, Picos now)
{
    const PathFacts& path = member.flow->Path();
    double longest = -1;
    for (size_t hop = 0; hop < path.links.size(); ++hop)
    {
        const double bps = RateOfLink(path, hop);
        const double time = TimeOn(*member.flow, path.links[hop], bps);
        if (time > longest)
        {
            longest = time;
            member.link = path.links[hop];
            member.bps = bps;
        }
    }
    member.rate = 0;
    for (const Member* other : m_onLink.at(member.link))
    {
        member.rate += CostRate(*other->flow);
    }
    member.cost = 0;
    member.since = now;
    member.expected = CostOn(member.link, member.bps);
}

void
SharingGains::OnStart(const Flow& flow, Picos now)
{
    if (flow.Standalone() <= 0)
    {
        return;
    }
    Member& joining = m_live.emplace(flow.Id(), Member{.flow = &flow}).first->second;
    const PathFacts& path = flow.Path();
    for (size_t hop = 0; hop < path.links.size(); ++hop)
    {
        const uint64_t link = path.links[hop];
        const double bps = RateOfLink(path, hop);
        const double without = CostOn(link, bps);
        m_onLink[link].push_back(&joining);
        const double with = CostOn(link, bps);
        ForAllOn(link,
                 [&](Member& member)
                 {
                     if (&member != &joining)
                     {
                         member.Settle(now);
                         member.rate += CostRate(flow);
                         member.expected = member.expected - without + with;
                     }
                 });
    }
    Choose(joining, now);
    joining.atStart = static_cast<double>(m_onLink[joining.link].size());
}

void
SharingGains::OnEnd(const Flow& flow, Picos now)
{
    const auto found = m_live.find(flow.Id());
    if (found == m_live.end())
    {
        return;
    }
    for (const uint64_t link : flow.Path().links)
    {
        std::erase(m_onLink[link], &found->second);
        ForAllOn(link,
                 [&](Member& member)
                 {
                     member.Settle(now);
                     member.rate -= CostRate(flow);
                 });
    }
    m_live.erase(found);
}

double
SharingGains::Take(uint32_t flow, Picos now)
{
    const auto found = m_live.find(flow);
    if (found == m_live.end())
    {
        return 0;
    }
    Member& member = found->second;
    member.Settle(now);
    const double gain = member.expected - member.cost - CostOn(member.link, member.bps);
    Choose(member, now);
    return gain / member.atStart;
}

} // namespace ns3::env
