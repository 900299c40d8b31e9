// SPDX-License-Identifier: GPL-2.0-or-later
// State of a switch's port at one moment, for recorders: queue, bytes sent, pauses.
#ifndef NS3_ENV_RUN_EGRESS_QUEUE_H
#define NS3_ENV_RUN_EGRESS_QUEUE_H

#include "ns3_env/cpp/engine/queue-stats.h"

#include <cstdint>

namespace ns3::env
{

struct EgressQueue
{
    uint32_t node;
    uint32_t port; ///< its index at the node
    uint32_t peer; ///< node at the other end of its link
    double rateBps;
    uint64_t bytes;
    uint64_t txBytes;         ///< sent so far
    Picos paused;             ///< how long its peer has held it back so far
    uint64_t pauseFrames;     ///< that its peer sent it
    uint64_t pauseFramesSent; ///< that it sent its peer
    const QueueStats* stats;  ///< null where no statistics are kept
};

} // namespace ns3::env

#endif // NS3_ENV_RUN_EGRESS_QUEUE_H
