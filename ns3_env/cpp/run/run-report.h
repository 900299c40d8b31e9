// SPDX-License-Identifier: GPL-2.0-or-later
// Losses, stream counts and totals of a run, whatever carried the packets.
#ifndef NS3_ENV_RUN_RUN_REPORT_H
#define NS3_ENV_RUN_RUN_REPORT_H

#include "ns3_env/cpp/engine/losses.h"

#include <cstdint>

namespace ns3::env
{

/// What one port lost by one cause; hosts' ports included.
struct LossRecord
{
    uint32_t node;
    uint32_t port;
    uint32_t peer;
    LossCause cause;
    Losses lost;
};

/// Payload bytes of one stream. What is neither received nor lost is on its way.
struct StreamCounts
{
    uint64_t sent;
    uint64_t received;
    uint64_t lost;
};

/// Sums over a network.
struct RunTotals
{
    uint64_t packetsSent{0}; ///< data packets, retransmissions included
    uint64_t packetHops{0};
    uint64_t droppedPackets{0};
    uint64_t droppedPayload{0};
    uint64_t transmittedPayload{0};
    uint64_t deliveredPayload{0};
    uint64_t packetsLeft{0}; ///< on the network at the end
    uint64_t pauseFrames{0};
    uint64_t notificationFrames{0};
    double hostPauseNs{0};
};

} // namespace ns3::env

#endif // NS3_ENV_RUN_RUN_REPORT_H
