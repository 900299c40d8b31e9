// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario's traffic classes: checked against its network, given to its ports.
#pragma once

#include "ns3_env/cpp/rdma/switch/network-rules.h"
#include "ns3_env/cpp/rdma/switch/switch.h"
#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <vector>

namespace ns3::env::rdma
{

/// \throws ScenarioError if a network cannot have them.
void CheckClasses(const Scenario& scenario);

/// Sets up a port of a ClassSwitch, once its link's rate is known.
void ConfigureClasses(SwitchPort& port, const NetworkRules& rules, const Scenario& scenario);

/// The queues of a port's classes at `now`; empty if there is one class.
std::vector<ClassQueue>
QueuesOfClasses(const SwitchPort& port, const std::vector<TrafficClass>& classes, Picos now);

/// Finishes the classes' records at the end of the run.
void FinishClassRecords(SwitchPort& port, const std::vector<TrafficClass>& classes, Picos now);

// --- A class of a switch's or a host's port; `several`: there are several
bool IsPaused(const Port& port, bool several, uint32_t trafficClass);
const PacketFifo& QueueOf(const SwitchPort& port, bool several, uint32_t trafficClass);

/// The minimum share of a link of a class with a weight while no strict one sends; 1 without weights.
double LeastShare(const std::vector<TrafficClass>& classes);

} // namespace ns3::env::rdma
