// SPDX-License-Identifier: GPL-2.0-or-later
// The keys load_balancing and failures, and their incompatible keys.
#pragma once

#include "ns3_env/cpp/run/scenario.h"

namespace ns3::env
{
class JsonReader;
}

namespace ns3::env::rdma
{

/// Reads the keys into `paths`, which stays absent if each flow has its route, and `detours`. \throws ScenarioError
void ReadPaths(JsonReader& root, Scenario& scenario);

/// \param fluid whether flows are fluids \throws ScenarioError if the scenario's switches cannot choose per packet
void CheckPaths(const Scenario& scenario, bool fluid);

} // namespace ns3::env::rdma
