// SPDX-License-Identifier: GPL-2.0-or-later
// Small networks that tests run on.
#pragma once

#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env::test
{

inline constexpr Picos NS = PS_PER_NS;
inline constexpr Picos US = 1000 * NS;
inline constexpr Picos MS = 1000 * US;

/// A flow's row in a test.
struct FlowRow
{
    uint32_t from;
    uint32_t to;
    uint64_t bytes;
    Picos start{0};
    uint8_t trafficClass{0};
};

/// Hosts 0..hosts-1, then switches, joined by links that are all alike, under fixed-window.
Scenario NetworkOf(uint32_t hosts,
                   uint32_t switches,
                   const std::vector<std::pair<uint32_t, uint32_t>>& links,
                   double rateBps = 100e9,
                   Picos delay = US);

/// Senders 0..n-1 - switch n+1 - switch n+2 - receiver n; all links alike (docs/sources/published-simulator.md).
Scenario Dumbbell(uint32_t senders, double rateBps, Picos delay = US);

/// A dumbbell at 100 Gb/s with the default preset, and its flows under a controller.
Scenario Exact(uint32_t senders,
               const std::vector<FlowRow>& flows = {},
               const std::string& controller = "fixed-window");

/// Leaves with `hosts` each, every leaf joined to every spine: hosts first, then leaves, then spines.
Scenario LeafSpine(uint32_t leaves, uint32_t hosts, uint32_t spines, double rateBps = 100e9);

/// Hosts 0-15 - ToR 16-19 (100 Gb/s) - aggregation 20-23 - core 24, 25 (400 Gb/s); all 1 us (docs/sources/published-simulator.md).
Scenario FatTree16();

/// Adds a flow under the scenario's first controller.
void AddFlow(Scenario& scenario, uint32_t from, uint32_t to, uint64_t bytes, Picos start = 0);
void AddFlows(Scenario& scenario, const std::vector<FlowRow>& flows);

/// A flow from each of a dumbbell's senders to its receiver, one after another.
void AddIncast(Scenario& scenario, uint32_t senders, uint64_t bytes, Picos apart = 0);

/// A stream whose id follows those of all flows and streams.
void AddStream(Scenario& scenario,
               uint32_t from,
               uint32_t to,
               double rateBps,
               Picos start = 0,
               Picos stop = NEVER);

/// Gives the first controller a constant window.
void SetWindow(Scenario& scenario, uint64_t bytes);

} // namespace ns3::env::test
