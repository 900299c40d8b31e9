// SPDX-License-Identifier: GPL-2.0-or-later
// What the flows that share a hop cost together while one of them lives.
#include "team-costs.h"

#include "flow-costs.h"

#include <algorithm>

namespace ns3::env
{

void
TeamCosts::Member::Settle(Picos now)
{
    cost += rate * static_cast<double>(now - since);
    since = now;
}

bool
TeamCosts::ShareALink(const Flow& a, const Flow& b)
{
    const std::vector<uint64_t>& links = b.Path().links;
    return std::any_of(a.Path().links.begin(),
                       a.Path().links.end(),
                       [&](uint64_t link)
                       { return std::find(links.begin(), links.end(), link) != links.end(); });
}

void
TeamCosts::OnStart(const Flow& flow, Picos now)
{
    if (flow.Standalone() <= 0)
    {
        return;
    }
    Member joining{.flow = &flow, .rate = CostRate(flow), .since = now};
    for (auto& [id, member] : m_live)
    {
        if (ShareALink(flow, *member.flow))
        {
            member.Settle(now);
            member.rate += CostRate(flow);
            joining.rate += CostRate(*member.flow);
            joining.atStart += 1;
        }
    }
    m_live.emplace(flow.Id(), joining);
}

void
TeamCosts::OnEnd(const Flow& flow, Picos now)
{
    if (m_live.erase(flow.Id()) == 0)
    {
        return;
    }
    for (auto& [id, member] : m_live)
    {
        if (ShareALink(flow, *member.flow))
        {
            member.Settle(now);
            member.rate -= CostRate(flow);
        }
    }
}

void
TeamCosts::OnCut()
{
    for (auto& [id, member] : m_live)
    {
        for (const auto& [other, cut] : m_live)
        {
            if (ShareALink(*cut.flow, *member.flow))
            {
                member.cost += ShareLeft(*cut.flow);
            }
        }
    }
}

double
TeamCosts::Take(uint32_t flow, Picos now)
{
    const auto found = m_live.find(flow);
    if (found == m_live.end())
    {
        return 0;
    }
    Member& member = found->second;
    member.Settle(now);
    const double taken = member.cost / member.atStart;
    member.cost = 0;
    return taken;
}

} // namespace ns3::env
