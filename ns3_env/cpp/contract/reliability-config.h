// SPDX-License-Identifier: GPL-2.0-or-later
// Settings of reliability: selective repeat, and when a network card answers.
#pragma once

#include "units.h"

#include <cstdint>
#include <optional>

namespace ns3::env
{

/// Selective repeat (IRN, Mittal 2018). Its RTO_high is the network's retransmission timeout.
struct SelectiveRepeatConfig
{
    Picos rtoLow{100'000'000}; ///< the timeout while few packets are in flight
    uint32_t rtoLowPackets{3}; ///< up to this number are few
    std::optional<double> bdpCap{
        1.0};                   ///< in flight at most, BDPs of the longest path; absent: no cap
    uint32_t reorderPackets{0}; ///< packets that may overtake one before it counts as lost
    static constexpr uint32_t ANY_ORDER = 1U << 30; ///< a number that none is overtaken by
};

/// Options of network cards besides plain sending and receiving.
struct NicConfig
{
    Picos cnpDelay{0}; ///< delay of the separate packet that reports a mark; 0: the ACK reports it
    Picos ackDelay{0}; ///< from a packet's arrival to its answer
    uint32_t ackEvery{1}; ///< packets in order that one ACK answers

    bool IsAny() const { return cnpDelay > 0 || ackDelay > 0 || ackEvery > 1; }
};

} // namespace ns3::env
