// SPDX-License-Identifier: GPL-2.0-or-later
// In-band telemetry record of one hop, which a switch writes into a passing packet.
#ifndef NS3_ENV_CONTRACT_INT_RECORD_H
#define NS3_ENV_CONTRACT_INT_RECORD_H

#include <cstdint>

namespace ns3::env
{

/// Hops one packet's telemetry can hold (Zheng 2024, Fig. 5.1): a three-level fat-tree's longest path.
inline constexpr uint32_t MAX_INT_HOPS = 5;

/// Written when the packet leaves the egress port's queue (Zheng 2024, App. A.1; Li 2019, HPCC).
struct IntRecord
{
    uint64_t txBytes;    ///< bytes the port has sent before this packet
    int64_t timeNs;      ///< when it left the queue
    uint64_t rateBps;    ///< the port's link rate
    uint32_t queueBytes; ///< left in the queue behind it
    uint32_t flows;      ///< flows counted at this port
};

} // namespace ns3::env

#endif // NS3_ENV_CONTRACT_INT_RECORD_H
