// SPDX-License-Identifier: GPL-2.0-or-later
// Dependencies in a scenario among flows and steps of computation.
#include "dependency-spec.h"

#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/json/scenario-error.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

void
Expect(size_t rows, size_t tasks, const char* column)
{
    if (rows != tasks)
    {
        throw ScenarioError(std::string("'dependencies.") + column + "' has " +
                            std::to_string(rows) + " rows, and there are " + std::to_string(tasks) +
                            " flows and steps");
    }
}

/// Removes, over and over, tasks that wait for nothing: those that remain wait for themselves.
void
RefuseCycles(const DependencySpec& spec)
{
    const size_t tasks = spec.Tasks();
    std::vector<uint32_t> waits(tasks);
    std::vector<std::vector<uint32_t>> next(tasks);
    std::vector<uint32_t> ready;
    for (uint32_t task = 0; task < tasks; ++task)
    {
        waits[task] = spec.Needed(task);
        for (uint32_t i = spec.first[task]; i < spec.first[task + 1]; ++i)
        {
            next[spec.after[i]].push_back(task);
        }
        if (waits[task] == 0)
        {
            ready.push_back(task);
        }
    }
    size_t over = 0;
    while (!ready.empty())
    {
        const uint32_t task = ready.back();
        ready.pop_back();
        ++over;
        for (uint32_t other : next[task])
        {
            if (waits[other] > 0 && --waits[other] == 0)
            {
                ready.push_back(other);
            }
        }
    }
    if (over < tasks)
    {
        const auto left =
            std::find_if(waits.begin(), waits.end(), [](uint32_t n) { return n > 0; });
        throw ScenarioError("'dependencies': " + std::to_string(tasks - over) +
                            " flows and steps wait for each other in a circle, the first is " +
                            std::to_string(left - waits.begin()));
    }
}

void
ReadLabels(JsonReader& section, DependencySpec& spec)
{
    const size_t tasks = spec.Tasks();
    spec.jobs = section.Texts("jobs", bounds::FLOWS);
    spec.parts = section.Texts("parts", bounds::FLOWS);
    const auto column = [&](const char* name, int32_t last)
    {
        auto values = section.Wholes<int32_t>(name, bounds::FLOWS, -1, last);
        Expect(values.size(), tasks, name);
        return values;
    };
    spec.job = column("job", static_cast<int32_t>(spec.jobs.size()) - 1);
    spec.part = column("part", static_cast<int32_t>(spec.parts.size()) - 1);
    spec.iteration = column("iteration", INT32_MAX);
    spec.rank = column("rank", INT32_MAX);
    spec.peer = column("peer", INT32_MAX);
}

/// Reads the column "needed", without which a task waits for all that are before it.
void
ReadNeeded(JsonReader& section, DependencySpec& spec)
{
    spec.needed = section.Wholes<uint32_t>("needed", bounds::FLOWS, 0, bounds::FLOWS);
    Expect(spec.needed.size(), spec.Tasks(), "needed");
    for (size_t task = 0; task < spec.Tasks(); ++task)
    {
        if (spec.needed[task] > spec.Count(task))
        {
            throw ScenarioError("'dependencies.needed' of task " + std::to_string(task) + " is " +
                                std::to_string(spec.needed[task]) + ", and it waits for " +
                                std::to_string(spec.Count(task)) + ": it would never start");
        }
    }
}

} // namespace

bool
DependencySpec::HasChoices() const
{
    for (size_t task = 0; task < Tasks(); ++task)
    {
        if (Needed(task) < Count(task))
        {
            return true;
        }
    }
    return false;
}

DependencySpec
ReadDependencies(JsonReader& section, const std::vector<Picos>& flowStarts)
{
    constexpr size_t MOST = bounds::FLOWS;
    DependencySpec spec;
    const auto steps = section.Wholes<int64_t>("step_start_ns", MOST, 0, bounds::TIME_NS);
    const auto delay = section.Wholes<int64_t>("delay_ns", MOST, 0, bounds::TIME_NS);
    const auto counts = section.Wholes<uint32_t>("after_count", MOST, 0, bounds::FLOWS);
    const size_t tasks = flowStarts.size() + steps.size();
    Expect(delay.size(), tasks, "delay_ns");
    Expect(counts.size(), tasks, "after_count");
    spec.start = flowStarts;
    for (int64_t start : steps)
    {
        spec.start.push_back(start * PS_PER_NS);
    }
    for (int64_t x : delay)
    {
        spec.delay.push_back(x * PS_PER_NS);
    }
    spec.first.push_back(0);
    for (uint32_t count : counts)
    {
        spec.first.push_back(spec.first.back() + std::min<uint32_t>(count, MOST));
    }
    const auto last = static_cast<uint32_t>(std::max<size_t>(tasks, 1) - 1);
    spec.after = section.Wholes<uint32_t>("after", MOST, 0, last);
    if (spec.after.size() != spec.first.back())
    {
        throw ScenarioError("'dependencies.after' has not as many entries as 'after_count' says");
    }
    if (section.Has("needed"))
    {
        ReadNeeded(section, spec);
    }
    if (section.Has("jobs"))
    {
        ReadLabels(section, spec);
    }
    RefuseCycles(spec);
    return spec;
}

} // namespace ns3::env
