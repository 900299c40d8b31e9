// SPDX-License-Identifier: GPL-2.0-or-later
// Declarations of the controllers, as JSON for programs outside the simulator.
#ifndef NS3_ENV_RDMA_PROGRAM_CONTROLLER_DESCRIPTION_H
#define NS3_ENV_RDMA_PROGRAM_CONTROLLER_DESCRIPTION_H

#include <string>

namespace ns3::env::rdma
{

/**
 * One object per controller, by name. `ecn` is the marking that `switch.ecn: auto` stands for (keys as in a
 * scenario's `switch.ecn`), null where the controller ignores marks.
 */
std::string DescribeControllers();

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_PROGRAM_CONTROLLER_DESCRIPTION_H
