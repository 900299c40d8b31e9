// SPDX-License-Identifier: GPL-2.0-or-later
// The key link_rates: links whose rate and delay change over time.
#include "link-rates.h"

#include "scenario.h"

#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <string>

namespace ns3::env
{

namespace
{

constexpr int64_t WITHOUT_END = -1; ///< the period of steps that do not repeat

const LinkSpec&
FindLink(const std::vector<LinkSpec>& links, uint32_t from, uint32_t to, const std::string& path)
{
    const auto link =
        std::find_if(links.begin(),
                     links.end(),
                     [from, to](const LinkSpec& x)
                     { return (x.a == from && x.b == to) || (x.a == to && x.b == from); });
    if (link == links.end())
    {
        throw ScenarioError(path,
                            "no link joins the nodes " + std::to_string(from) + " and " +
                                std::to_string(to));
    }
    return *link;
}

std::vector<LinkStep>
ReadSteps(JsonReader& section, Picos linkDelay)
{
    const auto begins = section.Wholes<int64_t>("at_ns", bounds::LINK_STEPS, 0, bounds::TIME_NS);
    const auto rates = section.Numbers("rate_bps", bounds::LINK_STEPS, 0, bounds::RATE_BPS);
    const bool delayed = section.Has("delay_ns");
    const auto delays =
        delayed ? section.Wholes<int64_t>("delay_ns", bounds::LINK_STEPS, 0, bounds::DELAY_NS)
                : std::vector<int64_t>(begins.size(), linkDelay / PS_PER_NS);
    if (begins.empty() || rates.size() != begins.size() || delays.size() != begins.size())
    {
        throw ScenarioError(section.Path("at_ns"), "columns of different lengths, or none");
    }
    std::vector<LinkStep> steps;
    for (size_t i = 0; i < begins.size(); ++i)
    {
        if (i == 0 ? begins[i] != 0 : begins[i] <= begins[i - 1])
        {
            throw ScenarioError(section.Path("at_ns"),
                                "row " + std::to_string(i) + ": times ascend from 0");
        }
        if (rates[i] > 0 && rates[i] < bounds::LEAST_LINK_RATE_BPS)
        {
            throw ScenarioError(section.Path("rate_bps"),
                                "row " + std::to_string(i) + ": 0, or 10 kb/s and more");
        }
        steps.push_back({begins[i] * PS_PER_NS, rates[i], delays[i] * PS_PER_NS});
    }
    return steps;
}

} // namespace

LinkSchedules
ReadLinkRates(JsonReader& root, const std::vector<LinkSpec>& links)
{
    LinkSchedules schedules;
    const auto read = [&](JsonReader& section)
    {
        const auto from = section.Whole<uint32_t>("from", 0, bounds::NODES - 1);
        const auto to = section.Whole<uint32_t>("to", 0, bounds::NODES - 1);
        const LinkSpec& link = FindLink(links, from, to, section.Path("from"));
        auto steps = ReadSteps(section, link.delay);
        const auto period = section.Whole<int64_t>("period_ns", WITHOUT_END, bounds::TIME_NS);
        const bool repeats = period != WITHOUT_END;
        if (repeats && period * PS_PER_NS <= steps.back().begin)
        {
            throw ScenarioError(section.Path("period_ns"), "ends before its last step begins");
        }
        const bool sends = repeats ? std::any_of(steps.begin(),
                                                 steps.end(),
                                                 [](const LinkStep& x) { return x.rateBps > 0; })
                                   : steps.back().rateBps > 0;
        if (!sends)
        {
            throw ScenarioError(section.Path("rate_bps"),
                                "the link would never send again: the last rate is above 0");
        }
        schedules.insert_or_assign(
            {from, to},
            LinkSchedule(std::move(steps), repeats ? period * PS_PER_NS : NEVER));
    };
    root.Each("link_rates", bounds::LINKS, read);
    return schedules;
}

void
CheckLinkRates(const Scenario& scenario, bool fluid)
{
    if (scenario.published && !scenario.schedules.empty())
    {
        throw ScenarioError("link_rates",
                            "the published simulator's links keep their rates; leave 'link_rates' "
                            "out, or write timing: exact");
    }
    for (const auto& [ends, schedule] : scenario.schedules)
    {
        const auto& [from, to] = ends;
        if (fluid && !schedule.HasOnly(FindLink(scenario.links, from, to, "link_rates").delay))
        {
            throw ScenarioError("link_rates",
                                "a fluid reference has links that keep their delays; leave "
                                "'delay_ns' out");
        }
    }
}

} // namespace ns3::env
