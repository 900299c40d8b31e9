// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the simulator with the process that started it.
#pragma once

namespace ns3::env
{

/// Starts a thread that ends this process, at once and with exit code 0, when its parent PROCESS ends.
///
/// A parent-death signal (PR_SET_PDEATHSIG) follows the thread that started us instead, and would kill a simulator
/// whose creator was a short-lived thread.
///
/// \param expectedParent the process that should be our parent (SimulatorChannel::AgentPid()); when it is gone
///        already we end at once. 0: any process.
void StartLifeline(int expectedParent = 0);

} // namespace ns3::env
