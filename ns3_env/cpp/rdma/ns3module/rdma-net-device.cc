// SPDX-License-Identifier: GPL-2.0-or-later
// Device of an RDMA network at an ns-3 node: a host's card, or a port of a switch.
#include "rdma-net-device.h"

#include "rdma-network.h"

#include "ns3/abort.h"
#include "ns3/node.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/engine/watched-trace.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/rdma/switch/switch.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RdmaNetDevice);

using EnginePacket = env::rdma::Packet;

namespace
{

/// Id of the flow that a packet is about; PFC frames have none.
uint32_t
FlowOf(const EnginePacket& packet)
{
    return packet.flow == nullptr ? UINT32_MAX : packet.flow->Id();
}

} // namespace

TypeId
RdmaNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Rdma")
            .AddConstructor<RdmaNetDevice>()
            .AddAttribute("DataRate",
                          "Rate of the link, the same at both of its ends.",
                          DataRateValue(DataRate("100Gbps")),
                          MakeDataRateAccessor(&RdmaNetDevice::m_dataRate),
                          MakeDataRateChecker())
            .AddAttribute("Mtu",
                          "Largest packet of another stack.",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&RdmaNetDevice::m_mtu),
                          MakeUintegerChecker<uint16_t>(576, 9000))
            .AddAttribute("TxQueueLimit",
                          "Packets of other stacks that may wait at a card; more are dropped.",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&RdmaNetDevice::m_txQueueLimit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("QueueBytes",
                            "Bytes in a switch port's egress queue.",
                            env::MakeWatchedTrace(&RdmaNetDevice::m_queueBytes),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("Mark",
                            "A packet was marked (ECN) as it left a switch port's queue.",
                            env::MakeWatchedTrace(&RdmaNetDevice::m_markTrace),
                            "ns3::RdmaNetDevice::PacketCallback")
            .AddTraceSource("Drop",
                            "A packet that was to leave here, or has left, is lost, and why.",
                            env::MakeWatchedTrace(&RdmaNetDevice::m_dropTrace),
                            "ns3::RdmaNetDevice::DropCallback")
            .AddTraceSource("Pause",
                            "The peer paused (true) or resumed (false) this end.",
                            env::MakeWatchedTrace(&RdmaNetDevice::m_pauseTrace),
                            "ns3::RdmaNetDevice::PauseCallback");
    return tid;
}

RdmaNetDevice::RdmaNetDevice() = default;

void
RdmaNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
    const uint32_t id = node->GetId();
    uint8_t before = 0;
    for (uint32_t i = 0; i + 1 < node->GetNDevices(); ++i)
    {
        before += DynamicCast<RdmaNetDevice>(node->GetDevice(i)) ? 1 : 0;
    }
    const std::array<uint8_t, 6> bytes{0x02,
                                       before,
                                       static_cast<uint8_t>(id >> 24),
                                       static_cast<uint8_t>(id >> 16),
                                       static_cast<uint8_t>(id >> 8),
                                       static_cast<uint8_t>(id)};
    m_address.CopyFrom(bytes.data());
}

void
RdmaNetDevice::Attach(Ptr<RdmaChannel> channel)
{
    NS_ABORT_MSG_IF(m_channel, "RdmaNetDevice: this device is connected already");
    m_channel = channel;
    channel->Attach(this);
}

uint64_t
RdmaNetDevice::GetQueueBytes() const
{
    const auto* port = dynamic_cast<const env::rdma::SwitchPort*>(m_port);
    return port == nullptr ? 0 : port->QueueBytes();
}

Time
RdmaNetDevice::GetPausedTime() const
{
    return m_port == nullptr ? Time(0) : Time(m_port->PausedTime(env::NowPicos()));
}

uint64_t
RdmaNetDevice::GetTxBytes() const
{
    return m_port == nullptr ? 0 : m_port->TxBytes();
}

uint64_t
RdmaNetDevice::GetDroppedPackets() const
{
    uint64_t packets = 0;
    if (m_port != nullptr)
    {
        const env::LossCounts lost = m_port->Lost();
        for (const env::LossCause cause : env::LOSS_CAUSES)
        {
            packets += lost.By(cause).packets;
        }
    }
    return packets;
}

void
RdmaNetDevice::Watch()
{
    if (!m_watched && m_port != nullptr)
    {
        Listen();
    }
    m_watched = true;
}

void
RdmaNetDevice::SetPort(env::rdma::Port* port)
{
    m_port = port;
    if (m_watched && port != nullptr)
    {
        Listen();
    }
}

void
RdmaNetDevice::Listen()
{
    m_port->TraceConnectWithoutContext(
        "Pause",
        Callback<void, bool>([this](bool paused) { m_pauseTrace(paused); }));
    m_port->TraceConnectWithoutContext(
        "Drop",
        Callback<void, const EnginePacket&, env::LossCause>(
            [this](const EnginePacket& packet, env::LossCause cause)
            { m_dropTrace(FlowOf(packet), packet.wireBytes, env::NameOf(cause)); }));
    m_port->TraceConnectWithoutContext("QueueBytes", MakeCallback(&RdmaNetDevice::OnQueue, this));
    m_port->TraceConnectWithoutContext(
        "Mark",
        Callback<void, const EnginePacket&>([this](const EnginePacket& packet)
                                            { m_markTrace(FlowOf(packet), packet.wireBytes); }));
}

bool
RdmaNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

Address
RdmaNetDevice::GetMulticast(Ipv4Address group) const
{
    return Mac48Address::GetMulticast(group);
}

Address
RdmaNetDevice::GetMulticast(Ipv6Address group) const
{
    return Mac48Address::GetMulticast(group);
}

bool
RdmaNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    return RdmaNetwork::Get()->Carry(this, packet, dest, protocolNumber);
}

void
RdmaNetDevice::Deliver(Ptr<const Packet> packet,
                       const Address& from,
                       const Address& to,
                       uint16_t protocol)
{
    if (!m_promiscReceive.IsNull())
    {
        const auto type = to == GetBroadcast() ? PACKET_BROADCAST : PACKET_HOST;
        m_promiscReceive(this, packet, protocol, from, to, type);
    }
    if (!m_receive.IsNull())
    {
        m_receive(this, packet, protocol, from);
    }
}

void
RdmaNetDevice::DoDispose()
{
    m_port = nullptr;
    m_node = nullptr;
    m_channel = nullptr;
    NetDevice::DoDispose();
}

} // namespace ns3
