// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of other stacks of ns-3 (TCP, UDP, ARP) as packets of the engine's network.
#include "other-frames.h"

#include "ns3/header.h"
#include "ns3/node.h"
#include "ns3_env/cpp/engine/constant-rate.h"

#include <array>
#include <utility>

namespace ns3::env
{

namespace
{

constexpr uint32_t ETHERNET_BYTES = 18; ///< header and check sequence
constexpr uint16_t IPV4 = 0x0800;
constexpr uint32_t IPV4_BYTES = 20;
constexpr uint8_t ECN_BITS = 3;

using Ipv4Bytes = std::array<uint8_t, IPV4_BYTES>;

/// The first bytes of an IPv4 packet as they are, without the module that interprets them.
class RawIpv4 : public Header
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("rdma::RawIpv4").SetParent<Header>().AddConstructor<RawIpv4>();
        return tid;
    }
    TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return IPV4_BYTES; }
    void Serialize(Buffer::Iterator start) const override { start.Write(bytes.data(), IPV4_BYTES); }
    uint32_t Deserialize(Buffer::Iterator start) override
    {
        start.Read(bytes.data(), IPV4_BYTES);
        return IPV4_BYTES;
    }
    void Print(std::ostream&) const override {}

    Ipv4Bytes bytes{};
};

bool
IsIpv4(const ns3::Packet& packet, uint16_t protocol)
{
    return protocol == IPV4 && packet.GetSize() >= IPV4_BYTES;
}

/// UDP's or TCP's source port; 0 for other protocols.
uint16_t
SourcePort(const ns3::Packet& packet, uint16_t protocol)
{
    constexpr uint8_t TCP = 6;
    constexpr uint8_t UDP = 17;
    std::array<uint8_t, 64> bytes{};
    const uint32_t read = packet.CopyData(bytes.data(), bytes.size());
    const uint32_t length = 4U * (bytes[0] & 15);
    const bool has =
        IsIpv4(packet, protocol) && (bytes[9] == TCP || bytes[9] == UDP) && length + 2 <= read;
    return has ? static_cast<uint16_t>(bytes[length] << 8 | bytes[length + 1]) : 0;
}

bool
IsEcnCapable(const ns3::Packet& packet, uint16_t protocol)
{
    std::array<uint8_t, 2> bytes{};
    packet.CopyData(bytes.data(), bytes.size());
    return IsIpv4(packet, protocol) && (bytes[1] & ECN_BITS) != 0;
}

/// Sets "congestion experienced" (RFC 3168), and updates the checksum if there is one (RFC 1624).
void
Mark(ns3::Packet& packet)
{
    RawIpv4 header;
    packet.RemoveHeader(header);
    Ipv4Bytes& bytes = header.bytes;
    const auto before = static_cast<uint32_t>(bytes[0] << 8 | bytes[1]);
    bytes[1] |= ECN_BITS;
    const auto after = static_cast<uint32_t>(bytes[0] << 8 | bytes[1]);
    if (const auto sum = static_cast<uint32_t>(bytes[10] << 8 | bytes[11]); sum != 0)
    {
        uint32_t next = (~sum & 0xffff) + (~before & 0xffff) + after;
        next = (next & 0xffff) + (next >> 16);
        next = ~((next & 0xffff) + (next >> 16)) & 0xffff;
        bytes[10] = static_cast<uint8_t>(next >> 8);
        bytes[11] = static_cast<uint8_t>(next);
    }
    packet.AddHeader(header);
}

} // namespace

OtherFrames::OtherFrames(rdma::RdmaEpisode& network,
                         std::vector<Ptr<RdmaNetDevice>> cards,
                         uint8_t trafficClass)
    : m_network(network),
      m_cards(std::move(cards)),
      m_class(trafficClass),
      m_waiting(m_cards.size(), 0)
{
    using Seen = Callback<void, const rdma::Packet&>;
    for (uint32_t node = 0; node < m_cards.size(); ++node)
    {
        if (m_cards[node])
        {
            rdma::Nic& nic = *m_network.Nics()[node];
            nic.TraceConnectWithoutContext("Tx", Seen([this](const auto& x) { OnTx(x); }));
            nic.TraceConnectWithoutContext("Rx",
                                           Seen([this, node](const auto& x) { OnRx(node, x); }));
        }
    }
    for (rdma::Port* port : m_network.Ports())
    {
        port->TraceConnectWithoutContext(
            "Drop",
            Callback<void, const rdma::Packet&, LossCause>([this](const rdma::Packet& x, LossCause)
                                                           { OnDrop(x); }));
    }
    m_network.SetOtherFrames([this](const rdma::Packet& packet) { return BytesOf(packet); });
}

OtherFrames::~OtherFrames() = default;

bool
OtherFrames::Send(uint32_t source,
                  const Ptr<ns3::Packet>& packet,
                  const Address& to,
                  uint16_t protocol)
{
    const RdmaNetDevice& card = *m_cards[source];
    if (m_waiting[source] >= card.GetTxQueueLimit())
    {
        return false;
    }
    const bool toAll = to == card.GetBroadcast();
    bool sent = false;
    for (uint32_t node = 0; node < m_cards.size(); ++node)
    {
        if (m_cards[node] && node != source && (toAll || m_cards[node]->GetAddress() == to))
        {
            sent |= SendTo(source, node, {packet->Copy(), to, protocol, source});
        }
    }
    return sent;
}

bool
OtherFrames::SendTo(uint32_t source, uint32_t destination, Frame frame)
{
    rdma::Nic& nic = *m_network.Nics()[source];
    rdma::NetworkContext& network = nic.Network();
    const ns3::Packet& content = *frame.packet;
    rdma::QueuePair& carrier = CarrierOf(source, destination, SourcePort(content, frame.protocol));
    rdma::Packet* packet = network.pool.Allocate();
    packet->flow = &carrier;
    packet->kind = rdma::PacketKind::Data;
    packet->sequence = 0;
    packet->payloadBytes = 0; // no RDMA payload
    packet->wireBytes = content.GetSize() + ETHERNET_BYTES;
    packet->egress = carrier.Forward().data();
    packet->telemetry = rdma::Telemetry::None;
    packet->tellsRemaining = false;
    packet->sentAt = NowPicos();
    packet->ecnCapable = IsEcnCapable(content, frame.protocol);
    packet->ecnMarked = false;
    packet->last = false;
    packet->ackRequested = false;
    packet->hop = 0;
    packet->intHops = 0;
    network.CountPacket(carrier, 1);
    m_frames.emplace(packet, std::move(frame));
    ++m_waiting[source];
    nic.Send(packet);
    return true;
}

rdma::QueuePair&
OtherFrames::CarrierOf(uint32_t source, uint32_t destination, uint16_t port)
{
    auto& carrier = m_carriers[{source, destination, port}];
    if (!carrier)
    {
        FlowSpec spec{.id =
                          static_cast<uint32_t>(rdma::RdmaEpisode::FIRST_OTHER + m_carriers.size()),
                      .source = source,
                      .destination = destination,
                      .sizeBytes = ENDLESS_BYTES,
                      .start = NowPicos(),
                      .trafficClass = m_class};
        carrier = m_network.ConnectOther(spec, port);
    }
    return *carrier;
}

void
OtherFrames::OnTx(const rdma::Packet& packet)
{
    if (const auto frame = m_frames.find(&packet); frame != m_frames.end())
    {
        --m_waiting[frame->second.source];
    }
}

void
OtherFrames::OnRx(uint32_t node, const rdma::Packet& packet)
{
    const auto found = m_frames.find(&packet);
    if (found == m_frames.end())
    {
        return;
    }
    const Frame frame = std::move(found->second);
    m_frames.erase(found);
    if (packet.ecnMarked)
    {
        Mark(*frame.packet);
    }
    // The stack answers in a separate event: the engine is in the middle of an arrival.
    Simulator::ScheduleWithContext(
        m_cards[node]->GetNode()->GetId(),
        Time(0),
        [card = m_cards[node], from = m_cards[frame.source], frame]
        { card->Deliver(frame.packet, from->GetAddress(), frame.to, frame.protocol); });
}

void
OtherFrames::OnDrop(const rdma::Packet& packet)
{
    m_frames.erase(&packet);
}

std::vector<uint8_t>
OtherFrames::BytesOf(const rdma::Packet& packet) const
{
    const auto found = m_frames.find(&packet);
    if (found == m_frames.end())
    {
        return {};
    }
    const Frame& frame = found->second;
    constexpr uint32_t HEADER = 14;
    std::vector<uint8_t> bytes(HEADER + frame.packet->GetSize());
    frame.to.CopyTo(bytes.data());
    m_cards[frame.source]->GetAddress().CopyTo(bytes.data() + 6);
    bytes[12] = static_cast<uint8_t>(frame.protocol >> 8);
    bytes[13] = static_cast<uint8_t>(frame.protocol);
    frame.packet->CopyData(bytes.data() + HEADER, frame.packet->GetSize());
    return bytes;
}

} // namespace ns3::env
