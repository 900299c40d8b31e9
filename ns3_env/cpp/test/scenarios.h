// SPDX-License-Identifier: GPL-2.0-or-later
// Small networks that tests run on.
#ifndef NS3_ENV_TEST_SCENARIOS_H
#define NS3_ENV_TEST_SCENARIOS_H

#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>

namespace ns3::env::test
{

/// Senders 0..n-1 - switch n+1 - switch n+2 - receiver n; all links alike (docs/sources/published-simulator.md).
Scenario Dumbbell(uint32_t senders, double rateBps, Picos delay = 1000 * PS_PER_NS);

/// Hosts 0-15 - ToR 16-19 (100 Gb/s) - aggregation 20-23 - core 24, 25 (400 Gb/s); all 1 us (docs/sources/published-simulator.md).
Scenario FatTree16();

/// Adds a flow under the scenario's first controller.
void AddFlow(Scenario& scenario, uint32_t from, uint32_t to, uint64_t bytes, Picos start = 0);

/// A flow from each of a dumbbell's senders to its receiver, one after another.
void AddIncast(Scenario& scenario, uint32_t senders, uint64_t bytes, Picos apart = 0);

} // namespace ns3::env::test

#endif // NS3_ENV_TEST_SCENARIOS_H
