// SPDX-License-Identifier: GPL-2.0-or-later
// Packets as frames of a real link: RoCEv2 over IPv4 and Ethernet, PFC and switch feedback.
#pragma once

#include "packet.h"

#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/// The data class: priority code point 3, usually marked by differentiated services code point 26.
inline constexpr uint8_t DATA_PRIORITY = 3;
inline constexpr uint8_t DATA_DSCP = 26;

/// A flow as headers have it. Both ends of its connection have the number id + FIRST_QUEUE_PAIR.
struct FlowHeaders
{
    uint32_t id;
    uint32_t source;       ///< node id
    uint32_t destination;  ///< node id
    uint16_t sourcePort;   ///< UDP; the flow's entropy, for its ACKs as well
    uint32_t payloadBytes; ///< of a full packet; packet sequence numbers count packets
    uint64_t sizeBytes;    ///< of the flow's one message
    bool reliable{true}; ///< false of a stream: an unreliable connection, a message in each packet
    bool selective{false};   ///< selective repeat: a packet may follow the last one
    uint8_t dscp{DATA_DSCP}; ///< its upper three bits are the priority
};

/// Queue pairs 0 and 1 are those of management (IBA 3.9.5), so flow 0 has number 2.
inline constexpr uint32_t FIRST_QUEUE_PAIR = 2;
/// With several classes the first has the highest priority, and each its class selector.
inline constexpr uint8_t
PriorityOf(uint32_t trafficClass)
{
    return static_cast<uint8_t>(7 - trafficClass);
}

/// The frame, without its check sequence, of a data packet, ACK or NACK on the link from node `sender` to
/// node `receiver`. Headers are 58 B where the simulated packet has 48, so the frame of a data packet is 10 B
/// longer, plus up to 3 B that pad the payload to words. Telemetry is in no frame (decision 6).
std::vector<uint8_t>
RoceFrame(const Packet& packet, const FlowHeaders& flow, uint32_t sender, uint32_t receiver);

/// The frame of a pause or a resume (IEEE 802.1Q, annex on PFC), padded to the minimum Ethernet frame.
std::vector<uint8_t> PfcFrame(PacketKind kind, uint32_t sender, uint8_t priority = DATA_PRIORITY);

/// The frame of a switch's feedback to a flow's source: a congestion notification message (IEEE 802.1Q, 33.4), in which
/// switch and port identify the congestion point, with the first bytes of the data packet that it is about.
std::vector<uint8_t> NotificationFrame(const Packet& packet, const FlowHeaders& flow);

/// RoCEv2's invariant CRC (IBA A17.3.3) of an IPv4 packet that has everything but the CRC itself.
uint32_t InvariantCrc(std::vector<uint8_t> packet);

} // namespace ns3::env::rdma
