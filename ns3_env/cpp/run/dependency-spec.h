// SPDX-License-Identifier: GPL-2.0-or-later
// Dependencies in a scenario among flows and steps of computation.
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::env
{

class JsonReader;

/// A graph without cycles. Its nodes are tasks, by number: the scenario's flows, then the steps, which need time at a
/// host and send nothing.
struct DependencySpec
{
    std::vector<Picos> start;     ///< by task: not before
    std::vector<Picos> delay;     ///< by task: of a flow before it starts; duration of a step
    std::vector<uint32_t> first;  ///< by task: its place in `after`; one more at the end
    std::vector<uint32_t> after;  ///< tasks that it waits for
    std::vector<uint32_t> needed; ///< by task: how many of them must be over; empty: all

    // --- Columns copied to the results, by task; empty if no task belongs to a job
    std::vector<std::string> jobs;
    std::vector<std::string> parts; ///< of an iteration: names of collectives
    std::vector<int32_t> job;       ///< index into `jobs`, -1 without
    std::vector<int32_t> part;      ///< index into `parts`, -1 without
    std::vector<int32_t> iteration;
    std::vector<int32_t> rank; ///< rank that computes or sends
    std::vector<int32_t> peer; ///< rank that receives, -1 for a step

    size_t Tasks() const { return delay.size(); }
    uint32_t Count(size_t task) const { return first[task + 1] - first[task]; }
    uint32_t Needed(size_t task) const { return needed.empty() ? Count(task) : needed[task]; }
    /// Reports whether some task waits for any of those before it, not for all.
    bool HasChoices() const;
    /// Reports whether the flow waits: for other tasks, or for its delay.
    bool Waits(size_t flow) const { return Count(flow) > 0 || delay[flow] > 0; }
};

/// \param flowStarts of the scenario's flows \throws ScenarioError, of a cycle too
DependencySpec ReadDependencies(JsonReader& section, const std::vector<Picos>& flowStarts);

} // namespace ns3::env
