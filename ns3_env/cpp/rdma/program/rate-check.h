// SPDX-License-Identifier: GPL-2.0-or-later
// Warning of flows whose least rates together exceed their receiver's link.
#ifndef NS3_ENV_RDMA_PROGRAM_RATE_CHECK_H
#define NS3_ENV_RDMA_PROGRAM_RATE_CHECK_H

#include "rdma-episode.h"

#include <string>

namespace ns3::env::rdma
{

/**
 * A sentence where flows that were under way together to one host had least rates (`min_rate_bps`) that
 * exceed its link: no controller could have emptied the queue. Empty otherwise. After the run.
 */
std::string LeastRateWarning(const RdmaEpisode& network);

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_PROGRAM_RATE_CHECK_H
