// SPDX-License-Identifier: GPL-2.0-or-later
// Device of an RDMA network at an ns-3 node: a host's card, or a port of a switch.
#pragma once

#include "rdma-channel.h"

#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <string>

namespace ns3
{

namespace env::rdma
{
struct Packet;
class Port;
} // namespace env::rdma

/// A host's network card, or one port of a switch: the engine's port of the same place behind the face of an
/// ns3::NetDevice. The engine has it from the start of the simulation until Simulator::Destroy.
class RdmaNetDevice : public NetDevice
{
  public:
    static TypeId GetTypeId();

    RdmaNetDevice();

    /// Joins the channel; aborts for a device that has one.
    void Attach(Ptr<RdmaChannel> channel);
    DataRate GetDataRate() const { return m_dataRate; }
    uint32_t GetTxQueueLimit() const { return m_txQueueLimit; }

    // --- The engine's state, once the simulation has started; 0 before
    uint64_t GetQueueBytes() const; ///< of a switch port
    /// Time for which the peer has paused this end.
    Time GetPausedTime() const;
    uint64_t GetTxBytes() const;
    /// Packets that were to leave here, or have left, and do not arrive.
    uint64_t GetDroppedPackets() const;

    /// A listener connects to a trace source.
    void Watch();
    /// The engine's port is there. For RdmaNetwork.
    void SetPort(env::rdma::Port* port);
    /// Delivers a frame of another stack to this host. For RdmaNetwork.
    void
    Deliver(Ptr<const Packet> packet, const Address& from, const Address& to, uint16_t protocol);

    /// Reports a flow and its packet's bytes on the wire.
    typedef void (*PacketCallback)(uint32_t flow, uint32_t bytes);
    typedef void (*DropCallback)(uint32_t flow, uint32_t bytes, std::string cause);
    typedef void (*PauseCallback)(bool paused);

    // --- ns3::NetDevice
    void SetIfIndex(const uint32_t index) override { m_ifIndex = index; }
    uint32_t GetIfIndex() const override { return m_ifIndex; }
    Ptr<Channel> GetChannel() const override { return m_channel; }
    void SetAddress(Address address) override { m_address = Mac48Address::ConvertFrom(address); }
    Address GetAddress() const override { return m_address; }
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override { return m_mtu; }
    bool IsLinkUp() const override { return m_channel && m_channel->GetNDevices() == 2; }
    void AddLinkChangeCallback(Callback<void>) override {}
    bool IsBroadcast() const override { return true; }
    Address GetBroadcast() const override { return Mac48Address::GetBroadcast(); }
    bool IsMulticast() const override { return true; }
    Address GetMulticast(Ipv4Address group) const override;
    Address GetMulticast(Ipv6Address group) const override;
    bool IsBridge() const override { return false; }
    bool IsPointToPoint() const override { return false; }
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t) override { return false; }
    Ptr<Node> GetNode() const override { return m_node; }
    /// Sets the node, and the address: 02, the number of the node's earlier RDMA devices, and the node's id. Captures
    /// have 02:00.
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override { return true; }
    void SetReceiveCallback(ReceiveCallback callback) override { m_receive = callback; }
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override
    {
        m_promiscReceive = callback;
    }
    bool SupportsSendFrom() const override { return false; }

  protected:
    void DoDispose() override;

  private:
    void Listen();
    void OnQueue(uint64_t bytes) { m_queueBytes = bytes; }

    Ptr<Node> m_node;
    Ptr<RdmaChannel> m_channel;
    uint32_t m_ifIndex{0};
    Mac48Address m_address;
    uint16_t m_mtu{1500};
    uint32_t m_txQueueLimit{0};
    DataRate m_dataRate;
    env::rdma::Port* m_port{nullptr};
    bool m_watched{false};
    ReceiveCallback m_receive;
    PromiscReceiveCallback m_promiscReceive;

    TracedValue<uint64_t> m_queueBytes{0};
    TracedCallback<uint32_t, uint32_t> m_markTrace;
    TracedCallback<uint32_t, uint32_t, std::string> m_dropTrace;
    TracedCallback<bool> m_pauseTrace;
};

} // namespace ns3
