// SPDX-License-Identifier: GPL-2.0-or-later
// Results of flows and steps with dependencies: the end and the job of each.
#include "tasks.h"

#include <nlohmann/json.hpp>

namespace ns3::env
{

namespace
{

template <typename Value>
nlohmann::json
Times(size_t rows, Value value)
{
    nlohmann::json column = nlohmann::json::array();
    for (size_t row = 0; row < rows; ++row)
    {
        const Picos time = value(row);
        if (time < 0 || time % PS_PER_NS == 0)
        {
            column.push_back(time < 0 ? -1 : time / PS_PER_NS);
        }
        else
        {
            column.push_back(static_cast<double>(time) / PS_PER_NS);
        }
    }
    return column;
}

} // namespace

void
AddTasks(nlohmann::json& results, const Episode& episode)
{
    const Dependencies* waiting = episode.Waiting();
    if (waiting == nullptr)
    {
        return;
    }
    const DependencySpec& spec = *episode.GetScenario().dependencies;
    const size_t flows = episode.GetScenario().flows.size();
    const size_t steps = spec.Tasks() - flows;
    results["flows"]["delivered_ns"] =
        Times(flows, [&](size_t i) { return waiting->Delivered(static_cast<uint32_t>(i)); });
    results["steps"] = {{"start_ns", Times(steps, [&](size_t i) { return waiting->StepStart(i); })},
                        {"end_ns", Times(steps, [&](size_t i) { return waiting->StepEnd(i); })}};
    if (!spec.jobs.empty())
    {
        results["jobs"] = {{"names", spec.jobs},
                           {"parts", spec.parts},
                           {"job", spec.job},
                           {"part", spec.part},
                           {"iteration", spec.iteration},
                           {"rank", spec.rank},
                           {"peer", spec.peer}};
    }
}

} // namespace ns3::env
