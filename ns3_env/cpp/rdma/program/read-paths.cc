// SPDX-License-Identifier: GPL-2.0-or-later
// The keys load_balancing and failures, and their incompatible keys.
#include "read-paths.h"

#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace ns3::env::rdma
{

namespace
{

constexpr const char* VALIANT = "valiant"; ///< routes with a detour: switches do not choose
constexpr int64_t FOR_EVER = -1;           ///< the end of a permanent outage

Picos
TimeOf(int64_t ns)
{
    return ns == FOR_EVER ? NEVER : ns * PS_PER_NS;
}

/// Reads the key; true if flows have routes with a detour.
bool
ReadBalancing(JsonReader& section, PathSpec& spec)
{
    constexpr std::array<std::pair<const char*, Balancing>, 5> BY{
        {{"flowlet", Balancing::Flowlet},
         {"random", Balancing::Random},
         {"round_robin", Balancing::InTurn},
         {"least_queue", Balancing::LeastQueue},
         {"reps", Balancing::Recycled}}};
    const std::string by =
        section.OneOf("by", {"flowlet", "random", "round_robin", "least_queue", "reps", VALIANT});
    for (const auto& [name, balancing] : BY)
    {
        spec.balancing = by == name ? balancing : spec.balancing;
    }
    if (by == "flowlet")
    {
        spec.gap = section.Time("gap_ns", 0);
    }
    if (by == "reps")
    {
        spec.freezing = section.Time("freezing_ns", 0);
    }
    return by == VALIANT;
}

void
ReadFailures(JsonReader& section, PathSpec& spec)
{
    spec.convergence = section.Time("convergence_ns", 0);
    const auto read = [&spec](JsonReader& outage)
    {
        const auto a = outage.Whole<uint32_t>("a", 0, bounds::NODES - 1);
        const auto b = outage.Whole<uint32_t>("b", 0, bounds::NODES - 1);
        const auto at = outage.Whole<int64_t>("at_ns", 0, bounds::TIME_NS);
        const auto until = outage.Whole<int64_t>("until_ns", FOR_EVER, bounds::TIME_NS);
        if (until != FOR_EVER && until <= at)
        {
            throw ScenarioError(outage.Path("until_ns"),
                                std::to_string(until) + " is not after at_ns, " +
                                    std::to_string(at));
        }
        spec.outages.push_back({a, b, TimeOf(at), TimeOf(until)});
    };
    section.Each("outages", bounds::LINKS, read);
}

} // namespace

void
ReadPaths(JsonReader& root, Scenario& scenario)
{
    std::optional<PathSpec>& spec = scenario.paths;
    if (root.Has("load_balancing"))
    {
        scenario.detours =
            root.Sub("load_balancing",
                     [&](JsonReader& section) { return ReadBalancing(section, spec.emplace()); });
        if (scenario.detours)
        {
            spec.reset();
        }
    }
    if (root.Has("failures"))
    {
        if (scenario.detours)
        {
            throw ScenarioError("failures",
                                "routes by valiant do not change where a link fails: leave "
                                "'failures' out, or write load_balancing: ecmp");
        }
        spec = spec.value_or(PathSpec{});
        root.Sub("failures", [&](JsonReader& section) { ReadFailures(section, *spec); });
    }
}

void
CheckPaths(const Scenario& scenario, bool fluid)
{
    if (scenario.detours && scenario.published)
    {
        throw ScenarioError("load_balancing",
                            "the published simulator's paths are the shortest: write timing: "
                            "exact, or leave 'load_balancing' out");
    }
    if (!scenario.paths)
    {
        return;
    }
    const PathSpec& spec = *scenario.paths;
    const bool balances = spec.balancing != Balancing::Flowlet || spec.gap < NEVER;
    const std::string key = balances ? "load_balancing" : "failures";
    const std::string without = "; leave '" + key + "' out";
    if (fluid)
    {
        throw ScenarioError(key,
                            "flows under a fluid reference have no packets to steer" + without);
    }
    if (scenario.scheduling == Scheduling::LeastRemaining)
    {
        throw ScenarioError(key,
                            "ports that send of the flow with the least bytes left (the oracle's) "
                            "know one path of each flow" +
                                without + ", or write switch.scheduling: fifo");
    }
    if (scenario.published)
    {
        throw ScenarioError(key,
                            "the published simulator gives a flow one path, and its links never "
                            "fail: write timing: exact, or leave '" +
                                key + "' out");
    }
    const auto hasPoint = [](const TrafficClass& own) { return own.congestionPoints.enabled; };
    if (scenario.congestionPoints.enabled ||
        std::any_of(scenario.classes.begin(), scenario.classes.end(), hasPoint))
    {
        throw ScenarioError(
            key,
            "feedback frames of congestion points go back by the way that data came, which has to "
            "be the flow's one path: write switch.congestion_points: null, or leave '" +
                key + "' out");
    }
}

} // namespace ns3::env::rdma
