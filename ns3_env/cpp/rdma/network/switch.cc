// SPDX-License-Identifier: GPL-2.0-or-later
// Switch with its ports: admission, PFC, queueing, ECN and telemetry at dequeue.
#include "switch.h"

#include "network-rules.h"
#include "queue-pair.h"

#include "ns3/trace-source-accessor.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

namespace
{

// Units of the quantised telemetry header (docs/sources/published-simulator.md, "Switch"), scaled by bw / 25 Gb/s.
constexpr uint32_t TX_UNIT_BYTES = 128;
constexpr uint32_t QUEUE_UNIT_BYTES = 80;

uint64_t
Quantise(uint64_t value, uint32_t unit)
{
    return value - value % unit;
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(SwitchPort);
NS_OBJECT_ENSURE_REGISTERED(Switch);

TypeId
SwitchPort::GetTypeId()
{
    static TypeId tid = TypeId("rdma::SwitchPort")
                            .SetParent<Port>()
                            .SetGroupName("Rdma")
                            .AddTraceSource("QueueBytes",
                                            "Bytes in the egress queue after a change.",
                                            MakeTraceSourceAccessor(&SwitchPort::m_queueTrace),
                                            "ns3::TracedValueCallback::Uint64")
                            .AddTraceSource("Mark",
                                            "A data packet was marked as it left the queue.",
                                            MakeTraceSourceAccessor(&SwitchPort::m_markTrace),
                                            "ns3::env::rdma::Packet::TracedCallback");
    return tid;
}

SwitchPort::SwitchPort(NetworkContext& network, Switch& owner, uint32_t nodeId, uint32_t index)
    : Port(network, nodeId, index),
      m_switch(owner)
{
}

void
SwitchPort::Configure(std::unique_ptr<EcnMarker> marker,
                      std::unique_ptr<FlowCounter> counter,
                      uint32_t telemetryUnit)
{
    m_marker = std::move(marker);
    m_counter = std::move(counter);
    m_telemetryUnit = telemetryUnit;
}

void
SwitchPort::EnableCongestionPoint(const CongestionPointConfig& config)
{
    // Nodes and a node's ports are numbered in 16 bits each.
    const uint32_t id = NodeId() << 16 | (Index() & 0xffff);
    m_congestionPoint = std::make_unique<CongestionPoint>(config, id, *m_network.random);
}

void
SwitchPort::Enqueue(Packet* packet, Picos now)
{
    if (packet->kind == PacketKind::Data)
    {
        m_counter->OnEnqueue(*packet, now);
    }
    m_queueBytes += packet->wireBytes;
    m_queue.Push(packet);
    if (m_stats)
    {
        m_stats->Update(m_queueBytes, now);
    }
    m_queueTrace(m_queueBytes);
    if (m_congestionPoint && packet->kind == PacketKind::Data)
    {
        if (const auto feedback = m_congestionPoint->OnArrival(packet->wireBytes, m_queueBytes))
        {
            Notify(*packet, *feedback);
        }
    }
    Kick();
}

void
SwitchPort::Notify(const Packet& packet, const QueueFeedback& feedback)
{
    Packet* frame = m_network.pool.Allocate();
    frame->flow = packet.flow;
    frame->kind = PacketKind::Notification;
    frame->sentAt = packet.sentAt;
    frame->sequence = packet.sequence; // of the packet that it is about
    frame->payloadBytes = 0;
    frame->wireBytes = NOTIFICATION_BYTES;
    frame->ecnMarked = false;
    frame->last = false;
    frame->hop = packet.hop;
    frame->intHops = 0;
    frame->feedback = feedback;
    packet.flow->OnPacketOnNetwork();
    ++m_network.notifications;
    packet.flow->TowardsSource(packet.hop).SendNotification(frame);
}

Packet*
SwitchPort::Dequeue(Picos now)
{
    if (IsPaused() || m_queue.IsEmpty())
    {
        return nullptr;
    }
    Packet* packet = m_queue.Pop();
    m_queueBytes -= packet->wireBytes;
    if (m_stats)
    {
        m_stats->Update(m_queueBytes, now);
    }
    m_queueTrace(m_queueBytes);
    if (m_marker->Marks(*packet, m_queueBytes))
    {
        packet->ecnMarked = true;
        m_markTrace(*packet);
    }
    m_switch.Release(packet->ingressPort, packet->wireBytes);
    if (packet->kind == PacketKind::Data)
    {
        if (packet->flow->GetIntRequest().hopRecords)
        {
            WriteTelemetry(*packet, now);
        }
        m_counter->OnDequeue(*packet);
    }
    ++packet->hop;
    return packet;
}

void
SwitchPort::WriteTelemetry(Packet& packet, Picos now)
{
    IntRecord& record = packet.intRecords[packet.intHops++];
    record.timeNs = ToNanos(now);
    record.rateBps = static_cast<uint64_t>(RateBps());
    record.flows = m_counter->Count(now);
    if (packet.flow->GetIntRequest().quantised)
    {
        record.txBytes = Quantise(TxBytes(), TX_UNIT_BYTES * m_telemetryUnit);
        record.queueBytes =
            static_cast<uint32_t>(Quantise(m_queueBytes, QUEUE_UNIT_BYTES * m_telemetryUnit));
    }
    else
    {
        record.txBytes = TxBytes();
        record.queueBytes = static_cast<uint32_t>(m_queueBytes);
    }
}

Picos
SwitchPort::NextReady(Picos now)
{
    return IsPaused() || m_queue.IsEmpty() ? NEVER : now;
}

void
SwitchPort::Receive(Packet* packet)
{
    if (packet->kind == PacketKind::Notification) [[unlikely]]
    {
        --packet->hop;
        packet->flow->TowardsSource(packet->hop).SendNotification(packet);
        return;
    }
    m_switch.Forward(packet, *this);
}

TypeId
Switch::GetTypeId()
{
    static TypeId tid = TypeId("rdma::Switch").SetParent<Object>().SetGroupName("Rdma");
    return tid;
}

Switch::Switch(NetworkContext& network, const SharedBufferConfig& config)
    : m_network(network),
      m_config(config),
      m_buffer(config)
{
}

SwitchPort&
Switch::AddPort(uint32_t nodeId)
{
    const auto index = static_cast<uint32_t>(m_ports.size());
    m_ports.push_back(CreateObject<SwitchPort>(m_network, *this, nodeId, index));
    m_pausing.push_back(false);
    return *m_ports.back();
}

void
Switch::ConfigureBuffer(const NetworkRules& rules, double hostRateBps, uint32_t frameBytes)
{
    for (const auto& port : m_ports)
    {
        const uint64_t headroom = m_config.sharing == PoolSharing::Complete
                                      ? 0
                                      : rules.Headroom(port->RateBps(), port->Delay()) +
                                            m_config.headroomFrames * frameBytes;
        // One shift less for each doubling above the hosts' rate.
        const uint32_t less = rules.Doublings(port->RateBps() / hostRateBps);
        m_buffer.AddPort(headroom, m_config.alphaShift > less ? m_config.alphaShift - less : 0);
    }
}

void
Switch::Forward(Packet* packet, SwitchPort& ingress)
{
    SwitchPort* egress = packet->flow->NextHop(*packet); // a flow carries its route: no table here
    const uint32_t in = ingress.Index();
    if (!m_buffer.Admits(in, packet->wireBytes))
    {
        egress->Drop(packet);
        return;
    }
    m_buffer.Add(in, packet->wireBytes);
    packet->ingressPort = in;
    if (!m_pausing[in] && m_buffer.ShouldPause(in))
    {
        m_pausing[in] = true;
        ingress.SendPfc(PacketKind::Pause);
    }
    egress->Enqueue(packet, packet->arrival);
}

void
Switch::Release(uint32_t ingressPort, uint32_t bytes)
{
    m_buffer.Remove(ingressPort, bytes);
    if (m_pausing[ingressPort] && m_buffer.ShouldResume(ingressPort))
    {
        m_pausing[ingressPort] = false;
        m_ports[ingressPort]->SendPfc(PacketKind::Resume);
    }
}

} // namespace ns3::env::rdma
