// SPDX-License-Identifier: GPL-2.0-or-later
// What do the controllers say of themselves? Their declarations, as JSON for those outside the simulator.
#ifndef RDMA_CONTROLLER_DESCRIPTION_H
#define RDMA_CONTROLLER_DESCRIPTION_H

#include <string>

namespace ns3::rdma
{

/**
 * One object per controller, by name. `ecn` is the marking that `switch.ecn: auto` stands for (keys as in a
 * scenario's `switch.ecn`), null where the controller ignores marks.
 */
std::string DescribeControllers();

} // namespace ns3::rdma

#endif // RDMA_CONTROLLER_DESCRIPTION_H
