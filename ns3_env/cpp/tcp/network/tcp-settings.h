// SPDX-License-Identifier: GPL-2.0-or-later
// Settings of one network's TCP sockets and queues.
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace ns3::env::tcp
{

/// Length of a queue. A packet counts with its IP header, without the link's.
struct QueueLength
{
    enum class Unit : uint8_t
    {
        Packets,
        Bytes,
        Bdps, ///< of the port's rate and the longest base RTT of two hosts
    };

    double amount{0};
    Unit unit{Unit::Packets};
};

/// Drops packets that find no room.
struct DropTail
{
};

/// Marks ECN-capable packets while the queue, the arriving packet included, is longer than `threshold`.
struct EcnThreshold
{
    QueueLength threshold;
    /// Absent: the threshold applies at any rate. Otherwise at this rate, and grows with a port's rate.
    std::optional<double> atRateBps{};
    /// Minimum of the threshold, in packets.
    double leastPackets{0};
};

/// Random early detection (Floyd and Jacobson 1993), as ns-3 has it.
struct Red
{
    QueueLength least;              ///< of the average queue: no packet is marked or dropped below
    QueueLength most;               ///< all packets above, or above twice that in gentle mode
    double highestProbability{0.1}; ///< at `most`
    double averageWeight{0.002};    ///< of one arrival in the average
    bool gentle{true};
    bool ecn{false}; ///< marks ECN-capable packets instead of dropping them
};

/// The queue at an egress. One packet more waits in the device, and one is being transmitted.
struct QueueSettings
{
    QueueLength limit{100, QueueLength::Unit::Packets};
    std::variant<DropTail, EcnThreshold, Red> discipline;
};

/// Random time that an ACK waits at its receiver: exponential, drawn again above `mostRtts`. In base RTTs.
struct AckNoise
{
    double meanRtts{0.01};
    double mostRtts{0.1};
};

/// Settings of every connection of a network.
struct TcpSettings
{
    uint32_t segmentBytes{1448}; ///< payload of a full segment, whatever its options
    uint32_t initialWindowSegments{10};
    uint32_t segmentsPerAck{2};              ///< above 1 ACKs are delayed
    Picos delayedAckTimeout{40'000'000'000}; ///< shorter than the minimum RTO
    std::optional<AckNoise> ackNoise;
    bool sack{true};
    bool ecn{false};    ///< RFC 3168; controllers that need ECN bring their own (DCTCP)
    bool pacing{false}; ///< BBR paces in any case
    Picos minRto{200'000'000'000};
    Picos initialRto{1'000'000'000'000}; ///< of a SYN
    uint32_t socketBufferBytes{64U
                               << 20}; ///< at the sender and at the receiver; no window is wider
    QueueSettings queue;               ///< at each egress of a switch
    /// Queue at each egress of a host; absent: a FIFO that never drops. ns-3's TCP does not limit its data there
    /// (Linux: TSQ): at a host's link that is the bottleneck, its flows' whole windows queue.
    std::optional<QueueSettings> hostQueue;
};

} // namespace ns3::env::tcp
