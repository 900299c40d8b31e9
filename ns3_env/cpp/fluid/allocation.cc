// SPDX-License-Identifier: GPL-2.0-or-later
// Rates of fluid flows on links of given capacities: max-min fair, or by priority.
#include "allocation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <utility>

namespace ns3::env
{

namespace
{

/// Flows of each link, by index.
class Members
{
  public:
    Members(size_t links, const FluidRoutes& routes)
        : m_begin(links + 1, 0)
    {
        for (const FluidRoute* route : routes)
        {
            for (const uint32_t link : *route)
            {
                ++m_begin[link + 1];
            }
        }
        for (size_t link = 0; link < links; ++link)
        {
            m_begin[link + 1] += m_begin[link];
        }
        m_flows.resize(m_begin[links]);
        std::vector<uint32_t> next(m_begin.begin(), m_begin.end() - 1);
        for (uint32_t flow = 0; flow < routes.size(); ++flow)
        {
            for (const uint32_t link : *routes[flow])
            {
                m_flows[next[link]++] = flow;
            }
        }
    }

    std::span<const uint32_t> Of(uint32_t link) const
    {
        return {m_flows.data() + m_begin[link], m_begin[link + 1] - m_begin[link]};
    }

  private:
    std::vector<uint32_t> m_begin;
    std::vector<uint32_t> m_flows;
};

} // namespace

std::vector<double>
MaxMinRates(const std::vector<double>& capacities, const FluidRoutes& routes)
{
    constexpr double UNSETTLED = -1;
    const Members members(capacities.size(), routes);
    std::vector<double> rates(routes.size(), UNSETTLED);
    std::vector<double> left = capacities;
    std::vector<uint32_t> count(capacities.size());

    using Share = std::pair<double, uint32_t>; // of each unsettled flow of a link
    std::vector<Share> shares;
    for (uint32_t link = 0; link < capacities.size(); ++link)
    {
        count[link] = static_cast<uint32_t>(members.Of(link).size());
        if (count[link] > 0)
        {
            shares.emplace_back(capacities[link] / count[link], link);
        }
    }
    // A share only grows as flows settle elsewhere, so the first one is checked again.
    std::priority_queue<Share, std::vector<Share>, std::greater<>> least(std::greater<>(),
                                                                         std::move(shares));
    while (!least.empty())
    {
        const auto [known, link] = least.top();
        least.pop();
        if (count[link] == 0)
        {
            continue;
        }
        const double share = std::max(left[link], 0.0) / count[link];
        if (share > known)
        {
            least.emplace(share, link);
            continue;
        }
        for (const uint32_t flow : members.Of(link))
        {
            if (rates[flow] != UNSETTLED)
            {
                continue;
            }
            rates[flow] = share;
            for (const uint32_t passed : *routes[flow])
            {
                left[passed] -= share;
                --count[passed];
            }
        }
    }
    return rates;
}

std::vector<double>
PriorityRates(const std::vector<double>& capacities, const FluidRoutes& routes)
{
    std::vector<double> rates;
    rates.reserve(routes.size());
    std::vector<double> left = capacities;
    for (const FluidRoute* route : routes)
    {
        double rate = std::numeric_limits<double>::infinity();
        for (const uint32_t link : *route)
        {
            rate = std::min(rate, left[link]);
        }
        for (const uint32_t link : *route)
        {
            left[link] -= rate;
        }
        rates.push_back(rate);
    }
    return rates;
}

double
TimeToOvertaking(size_t links,
                 const FluidRoutes& routes,
                 const std::vector<double>& left,
                 const std::vector<double>& speeds)
{
    constexpr size_t NONE = SIZE_MAX;
    double soonest = std::numeric_limits<double>::infinity();
    std::vector<size_t> before(links, NONE); // the last flow on each link so far
    for (size_t flow = 0; flow < routes.size() && std::isfinite(left[flow]); ++flow)
    {
        for (const uint32_t link : *routes[flow])
        {
            const size_t other = std::exchange(before[link], flow);
            if (other != NONE && speeds[flow] > speeds[other])
            {
                // Of straight lines in order, neighbours are the first to cross.
                soonest =
                    std::min(soonest, (left[flow] - left[other]) / (speeds[flow] - speeds[other]));
            }
        }
    }
    return soonest;
}

} // namespace ns3::env
