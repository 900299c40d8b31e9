// SPDX-License-Identifier: GPL-2.0-or-later
// Fields of a switch's feedback frame: a queue's offset and change at one sample.
#ifndef NS3_ENV_CONTRACT_QUEUE_FEEDBACK_H
#define NS3_ENV_CONTRACT_QUEUE_FEEDBACK_H

#include <cstdint>

namespace ns3::env
{

/// The fields of a congestion notification message (IEEE 802.1Q, 33.4).
struct QueueFeedback
{
    int32_t offsetBytes; ///< Q_off = q - q0, in whole units
    int32_t deltaBytes;  ///< dQ = q - q_old, in whole units
    uint32_t congestionPoint;
    uint8_t quantised; ///< -Fb in 6 bits; 0 where Fb >= 0

    /// Unit of offset and delta, which have 16 bits each.
    static constexpr int32_t UNIT_BYTES = 64;
    static constexpr uint8_t MOST = 63;
};

} // namespace ns3::env

#endif // NS3_ENV_CONTRACT_QUEUE_FEEDBACK_H
