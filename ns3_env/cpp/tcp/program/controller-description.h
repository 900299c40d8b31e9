// SPDX-License-Identifier: GPL-2.0-or-later
// Declarations of TCP's congestion controllers, as JSON for programs outside the simulator.
#ifndef NS3_ENV_TCP_PROGRAM_CONTROLLER_DESCRIPTION_H
#define NS3_ENV_TCP_PROGRAM_CONTROLLER_DESCRIPTION_H

#include <string>

namespace ns3::env::tcp
{

/**
 * One object per controller, by name. `attributes` are its ns-3 attributes with their defaults, as text. `marking` is the threshold
 * that a queue's `marking: auto` stands for: `threshold_packets` at `at_rate_bps`, growing with a port's rate, no less
 * than `least_packets`; null where the controller does without marks.
 */
std::string DescribeControllers();

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_PROGRAM_CONTROLLER_DESCRIPTION_H
