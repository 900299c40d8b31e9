// SPDX-License-Identifier: GPL-2.0-or-later
// Packets as frames of a real link: RoCEv2 over IPv4 and Ethernet, PFC and switch feedback.
#include "wire-frame.h"

#include "ns3_env/cpp/recorders/checksums.h"
#include "ns3_env/cpp/routing/ecmp.h"

#include <algorithm>
#include <array>

namespace ns3::env::rdma
{

namespace
{

constexpr uint16_t ETHERTYPE_IPV4 = 0x0800;
constexpr uint16_t ETHERTYPE_MAC_CONTROL = 0x8808;
constexpr uint16_t ETHERTYPE_NOTIFICATION = 0x22e7; // IEEE 802.1Q, 33.4
constexpr uint16_t PFC_OPCODE = 0x0101;
constexpr uint8_t PROTOCOL_UDP = 17;
constexpr uint16_t ROCE_PORT = 4791; // IANA
constexpr uint16_t DO_NOT_FRAGMENT = 0x4000;
constexpr uint8_t FIRST_TTL = 64;
constexpr uint8_t ECT_0 = 0b10; // RFC 3168
constexpr uint8_t CE = 0b11;

constexpr size_t ETHERNET_BYTES = 14;
constexpr size_t IP_BYTES = 20;
constexpr size_t UDP_BYTES = 8;
constexpr size_t BTH_BYTES = 12;
constexpr size_t CRC_BYTES = 4;

// Reliable connection (IBA table 38).
constexpr uint8_t SEND_FIRST = 0x00;
constexpr uint8_t SEND_MIDDLE = 0x01;
constexpr uint8_t SEND_LAST = 0x02;
constexpr uint8_t SEND_ONLY = 0x04;
constexpr uint8_t ACKNOWLEDGE = 0x11;
// Unreliable connection (the same table).
constexpr uint8_t UNRELIABLE_SEND_ONLY = 0x24;
constexpr uint8_t MIGRATED = 0x40; // path migration is at rest
constexpr uint8_t BECN = 0x40;     // backward explicit congestion notification
constexpr uint8_t ACK_REQUEST = 0x80;
constexpr uint8_t NO_CREDITS_GIVEN = 0x1f;   // an ACK without end-to-end credits
constexpr uint8_t PSN_SEQUENCE_ERROR = 0x60; // a NAK: a packet is missing
constexpr uint16_t DEFAULT_PARTITION = 0xffff;
constexpr uint32_t MASK_24 = 0xffffff;

/// A frame that grows; numbers are big-endian.
class Frame
{
  public:
    explicit Frame(size_t capacity) { m_bytes.reserve(capacity); }

    void Add(uint64_t value, int bytes)
    {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        {
            m_bytes.push_back(static_cast<uint8_t>(value >> shift));
        }
    }
    /// A locally administered address: 02:00, then the node's id.
    void AddMac(uint32_t node) { Add((uint64_t{0x0200} << 32) | node, 6); }
    void PadTo(size_t size) { m_bytes.resize(std::max(size, m_bytes.size())); }

    std::vector<uint8_t>& Bytes() { return m_bytes; }

  private:
    std::vector<uint8_t> m_bytes;
};

uint8_t
DataOpcode(const Packet& packet, const FlowHeaders& flow)
{
    if (!flow.reliable)
    {
        return UNRELIABLE_SEND_ONLY;
    }
    const bool ends = packet.sequence + packet.payloadBytes == flow.sizeBytes;
    const bool last = packet.last && (ends || !flow.selective);
    if (packet.sequence == 0)
    {
        return last ? SEND_ONLY : SEND_FIRST;
    }
    return last ? SEND_LAST : SEND_MIDDLE;
}

/// Data packet: its place in the message. ACK: the last packet received. NAK: the one expected.
uint32_t
PacketSequenceNumber(const Packet& packet, const FlowHeaders& flow)
{
    const uint64_t packets = (packet.sequence + flow.payloadBytes - 1) / flow.payloadBytes;
    return static_cast<uint32_t>(packet.kind == PacketKind::Ack ? packets - 1 : packets) & MASK_24;
}

void
AddIpHeader(Frame& frame, const Packet& packet, const FlowHeaders& flow, size_t totalLength)
{
    const bool data = IsForReceiver(packet);
    const uint8_t ecn = !data || !packet.ecnCapable ? 0 : packet.ecnMarked ? CE : ECT_0;
    const size_t begin = frame.Bytes().size();
    frame.Add(0x45, 1); // version 4, five words
    frame.Add(uint64_t{flow.dscp} << 2 | ecn, 1);
    frame.Add(totalLength, 2);
    frame.Add(0, 2); // identification: unused in packets that are never fragmented (RFC 6864)
    frame.Add(DO_NOT_FRAGMENT, 2);
    frame.Add(FIRST_TTL - packet.hop, 1);
    frame.Add(PROTOCOL_UDP, 1);
    frame.Add(0, 2);
    frame.Add(NodeAddress(data ? flow.source : flow.destination), 4);
    frame.Add(NodeAddress(data ? flow.destination : flow.source), 4);
    const uint16_t checksum = InternetChecksum(std::span(frame.Bytes()).subspan(begin, IP_BYTES));
    frame.Bytes()[begin + 10] = static_cast<uint8_t>(checksum >> 8);
    frame.Bytes()[begin + 11] = static_cast<uint8_t>(checksum);
}

void
AddBth(Frame& frame, const Packet& packet, const FlowHeaders& flow, uint32_t pad)
{
    const bool data = IsForReceiver(packet);
    frame.Add(data ? DataOpcode(packet, flow) : ACKNOWLEDGE, 1);
    frame.Add(MIGRATED | pad << 4, 1);
    frame.Add(DEFAULT_PARTITION, 2);
    frame.Add(!data && packet.ecnMarked ? BECN : 0, 1); // the mark that the ACK carries back
    frame.Add((flow.id + FIRST_QUEUE_PAIR) & MASK_24, 3);
    frame.Add(data && flow.reliable ? ACK_REQUEST : 0, 1);
    frame.Add(PacketSequenceNumber(packet, flow), 3);
    if (!data)
    {
        frame.Add(packet.kind == PacketKind::Ack ? NO_CREDITS_GIVEN : PSN_SEQUENCE_ERROR, 1);
        frame.Add(packet.sequence == flow.sizeBytes ? 1 : 0, 3); // messages received
    }
}

} // namespace

std::vector<uint8_t>
RoceFrame(const Packet& packet, const FlowHeaders& flow, uint32_t sender, uint32_t receiver)
{
    const bool data = IsForReceiver(packet);
    const uint32_t pad = data ? (4 - packet.payloadBytes % 4) % 4 : 0;
    const size_t payload = data ? packet.payloadBytes + pad : 4; // of an ACK: its extended header
    const size_t udpLength = UDP_BYTES + BTH_BYTES + payload + CRC_BYTES;
    const size_t frameLength = ETHERNET_BYTES + IP_BYTES + udpLength;
    Frame frame(frameLength);
    frame.AddMac(receiver);
    frame.AddMac(sender);
    frame.Add(ETHERTYPE_IPV4, 2);
    AddIpHeader(frame, packet, flow, IP_BYTES + udpLength);
    frame.Add(flow.sourcePort, 2);
    frame.Add(ROCE_PORT, 2);
    frame.Add(udpLength, 2);
    frame.Add(0, 2); // no UDP checksum (IBA A17.3.1)
    AddBth(frame, packet, flow, pad);
    frame.PadTo(frameLength - CRC_BYTES);
    // As Ethernet's check sequence, the CRC goes out least significant byte first.
    const uint32_t crc =
        InvariantCrc({frame.Bytes().begin() + ETHERNET_BYTES, frame.Bytes().end()});
    for (int shift = 0; shift < 32; shift += 8)
    {
        frame.Add(crc >> shift & 0xff, 1);
    }
    return std::move(frame.Bytes());
}

std::vector<uint8_t>
PfcFrame(PacketKind kind, uint32_t sender, uint8_t priority)
{
    constexpr uint64_t GROUP = 0x0180c2000001; // MAC control frames go no farther than the link
    constexpr uint16_t LONGEST = 0xffff;       // quanta of 512 bit times
    Frame frame(MIN_FRAME_BYTES);
    frame.Add(GROUP, 6);
    frame.AddMac(sender);
    frame.Add(ETHERTYPE_MAC_CONTROL, 2);
    frame.Add(PFC_OPCODE, 2);
    frame.Add(1U << priority, 2); // class-enable vector
    for (uint8_t i = 0; i < 8; ++i)
    {
        frame.Add(i == priority && kind == PacketKind::Pause ? LONGEST : 0, 2);
    }
    frame.PadTo(MIN_FRAME_BYTES);
    return std::move(frame.Bytes());
}

std::vector<uint8_t>
NotificationFrame(const Packet& packet, const FlowHeaders& flow)
{
    constexpr size_t ADDRESSES_BYTES = 12;
    constexpr size_t ENCAPSULATED_BYTES = 64;
    constexpr int PRIORITY_SHIFT = 13;
    constexpr int DSCP_BITS_BELOW = 3;
    const QueueFeedback& feedback = packet.feedback;
    const uint32_t node = feedback.congestionPoint >> 16;
    const auto units = [](int32_t bytes)
    { return static_cast<uint16_t>(bytes / QueueFeedback::UNIT_BYTES); };

    Packet about{}; // as far as a frame's beginning shows
    about.kind = PacketKind::Data;
    about.ecnCapable = flow.reliable;
    about.sequence = packet.sequence;
    about.payloadBytes = static_cast<uint32_t>(
        std::min<uint64_t>(flow.payloadBytes, flow.sizeBytes - packet.sequence));
    about.last = about.sequence + about.payloadBytes == flow.sizeBytes;
    const std::vector<uint8_t> whole = RoceFrame(about, flow, flow.source, flow.destination);
    const size_t length = std::min(ENCAPSULATED_BYTES, whole.size() - ADDRESSES_BYTES);

    Frame frame(NOTIFICATION_BYTES);
    frame.AddMac(flow.source);
    frame.AddMac(node);
    frame.Add(ETHERTYPE_NOTIFICATION, 2);
    frame.Add(feedback.quantised, 2); // after version 0 and the reserved bits
    frame.AddMac(node);               // of the point's identifier, with the port
    frame.Add(feedback.congestionPoint & 0xffff, 2);
    frame.Add(units(feedback.offsetBytes), 2);
    frame.Add(units(feedback.deltaBytes), 2);
    frame.Add(uint64_t{flow.dscp} >> DSCP_BITS_BELOW << PRIORITY_SHIFT, 2);
    frame.AddMac(flow.destination);
    frame.Add(length, 2);
    frame.Bytes().insert(frame.Bytes().end(),
                         whole.begin() + ADDRESSES_BYTES,
                         whole.begin() + ADDRESSES_BYTES + static_cast<ptrdiff_t>(length));
    frame.PadTo(NOTIFICATION_BYTES);
    return std::move(frame.Bytes());
}

uint32_t
InvariantCrc(std::vector<uint8_t> packet)
{
    // Fields that a router may change count as ones; so do eight bytes in place of a local route header.
    constexpr size_t LOCAL_ROUTE_BYTES = 8;
    constexpr std::array<size_t, 7> VARIANT{1,  // IPv4: DSCP and ECN
                                            8,  // time to live
                                            10, // checksum
                                            11,
                                            IP_BYTES + 6, // UDP: checksum
                                            IP_BYTES + 7,
                                            IP_BYTES + UDP_BYTES + 4}; // BTH: FECN, BECN, reserved
    for (size_t i : VARIANT)
    {
        packet[i] = 0xff;
    }
    packet.insert(packet.begin(), LOCAL_ROUTE_BYTES, 0xff);
    return Crc32(packet);
}

} // namespace ns3::env::rdma
