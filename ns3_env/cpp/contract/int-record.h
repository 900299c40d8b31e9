// SPDX-License-Identifier: GPL-2.0-or-later
// Records that switches write: telemetry of a hop, and the content of a queue's feedback frame.
#pragma once

#include <cstdint>

namespace ns3::env
{

/// Maximum number of hops in one packet's telemetry (Zheng 2024, Fig. 5.1): a three-level fat-tree's longest path.
inline constexpr uint32_t MAX_INT_HOPS = 5;

/// Record of a hop, written when the packet leaves the egress port's queue (Zheng 2024, App. A.1; Li 2019, HPCC).
struct IntRecord
{
    uint64_t txBytes;    ///< bytes the port has sent before this packet
    int64_t timeNs;      ///< when it left the queue
    uint64_t rateBps;    ///< the port's link rate
    uint32_t queueBytes; ///< left in the queue behind it, at most 2^32 - 1
    uint32_t
        flows; ///< flows counted at this port; the byte, if one is for all hops (IntRequest::oneByte)
};

/// The fields of a congestion notification message (IEEE 802.1Q, 33.4).
struct QueueFeedback
{
    int32_t offsetBytes; ///< Q_off = q - q0, in whole units
    int32_t deltaBytes;  ///< dQ = q - q_old, in whole units
    uint32_t congestionPoint;
    uint8_t quantised; ///< -Fb in 6 bits; 0 if Fb >= 0

    /// Unit of offset and delta, which have 16 bits each.
    static constexpr int32_t UNIT_BYTES = 64;
    static constexpr uint8_t MOST = 63;
};

} // namespace ns3::env
