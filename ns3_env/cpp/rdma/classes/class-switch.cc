// SPDX-License-Identifier: GPL-2.0-or-later
// Switch of a network with several traffic classes: a queue, pauses, headroom and marks for each.
#include "class-switch.h"

#include "ns3_env/cpp/rdma/host/queue-pair.h"
#include "ns3_env/cpp/rdma/switch/network-rules.h"

#include <algorithm>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(ClassPort);
NS_OBJECT_ENSURE_REGISTERED(ClassSwitch);

TypeId
ClassPort::GetTypeId()
{
    static TypeId tid = TypeId("rdma::ClassPort").SetParent<SwitchPort>().SetGroupName("Rdma");
    return tid;
}

ClassPort::ClassPort(NetworkContext& network, ClassSwitch& owner, uint32_t nodeId, uint32_t index)
    : SwitchPort(network, owner, nodeId, index),
      m_owner(owner),
      m_queues(owner.Classes().size()),
      m_scheduler(owner.Classes(), owner.FrameBytes())
{
}

void
ClassPort::ConfigureClasses(const NetworkRules& rules, const std::vector<TrafficClass>& classes)
{
    for (size_t i = 0; i < classes.size(); ++i)
    {
        Queue& own = m_queues[i];
        own.marker = rules.MakeMarker(classes[i].ecn, RateBps(), Random());
        if (classes[i].congestionPoints.enabled)
        {
            const auto place = static_cast<uint32_t>(Index() * MOST_CLASSES + i) & 0xffff;
            own.congestionPoint = std::make_unique<CongestionPoint>(classes[i].congestionPoints,
                                                                    NodeId() << 16 | place,
                                                                    Random());
        }
    }
}

void
ClassPort::RecordClasses(Picos origin, Picos end)
{
    m_recordedUntil = end;
    for (Queue& own : m_queues)
    {
        own.stats = std::make_unique<QueueStats>(origin);
    }
}

void
ClassPort::FinishRecords(Picos now)
{
    for (const Queue& own : m_queues)
    {
        if (own.stats)
        {
            own.stats->Finish(std::min(now, m_recordedUntil));
        }
    }
}

inline void
ClassPort::Record(Queue& own, Picos now) const
{
    if (own.stats)
    {
        own.stats->Update(own.bytes, std::min(now, m_recordedUntil));
    }
}

void
ClassPort::Kick()
{
    Sort(NowPicos());
    KickAs(*this);
}

void
ClassPort::Sort(Picos now)
{
    while (Packet* packet = m_queue.Pop())
    {
        Queue& own = m_queues[packet->flow->Class()];
        own.packets.Push(packet);
        own.bytes += packet->wireBytes;
        Record(own, now);
        if (own.congestionPoint && packet->kind == PacketKind::Data)
        {
            Sample(*packet, *own.congestionPoint, own.bytes);
        }
    }
}

Packet*
ClassPort::Dequeue(Picos now)
{
    const auto chosen = m_scheduler.Next(
        [this](uint32_t i) { return !m_pauses.Of(i) && !m_queues[i].packets.IsEmpty(); });
    if (!chosen)
    {
        return nullptr;
    }
    Queue& own = m_queues[*chosen];
    Packet* packet = TakeFrom(own, own.marker.get(), now);
    own.txBytes += packet->wireBytes;
    m_scheduler.OnSent(*chosen, packet->wireBytes);
    return packet;
}

inline Packet*
ClassPort::TakeFrom(Queue& own, EcnMarker* marker, Picos now)
{
    Packet* packet = own.packets.Pop();
    own.bytes -= packet->wireBytes;
    Record(own, now);
    m_owner.ReleaseOfClass(*packet);
    Leave(*packet, marker, own.bytes, now);
    return packet;
}

void
ClassPort::OnFail(Picos now)
{
    m_owner.ForgetPause(*this);
    m_pauses.ReleaseAll(now);
    for (uint32_t own = 0; own < m_queues.size(); ++own)
    {
        Discard(own, LossCause::Failure, now);
    }
}

void
ClassPort::Discard(uint32_t trafficClass, LossCause cause, Picos now)
{
    Queue& own = m_queues[trafficClass];
    while (!own.packets.IsEmpty())
    {
        Lose(TakeFrom(own, nullptr, now), cause);
    }
}

Picos
ClassPort::NextReady(Picos now) const
{
    for (uint32_t i = 0; i < m_queues.size(); ++i)
    {
        if (!m_pauses.Of(i) && !m_queues[i].packets.IsEmpty())
        {
            return now;
        }
    }
    return NEVER;
}

void
ClassPort::Receive(Packet* packet)
{
    if (packet->kind >= PacketKind::Notification) [[unlikely]]
    {
        PassAhead(packet);
        return;
    }
    m_owner.ForwardOfClass(packet, *this);
}

void
ClassPort::OnPfc(const Packet& frame)
{
    m_pauses.OnFrame(static_cast<uint32_t>(frame.sequence),
                     frame.kind == PacketKind::Pause,
                     frame.arrival);
    SetPaused(m_pauses.Any(), frame.arrival);
    Kick();
}

TypeId
ClassSwitch::GetTypeId()
{
    static TypeId tid = TypeId("rdma::ClassSwitch").SetParent<Switch>().SetGroupName("Rdma");
    return tid;
}

ClassSwitch::ClassSwitch(NetworkContext& network,
                         const SharedBufferConfig& config,
                         const std::vector<TrafficClass>& classes,
                         uint32_t frameBytes)
    : Switch(network, config),
      m_classes(classes),
      m_frameBytes(frameBytes)
{
}

void
ClassSwitch::AddAccounts(uint64_t headroomBytes, uint32_t alphaShift)
{
    // A pause may also have to wait for those of the other classes.
    const uint64_t withFrames =
        headroomBytes > 0 ? headroomBytes + m_classes.size() * PFC_FRAME_BYTES : 0;
    for (const TrafficClass& own : m_classes)
    {
        m_buffer.AddPort(own.pfc ? withFrames : 0, alphaShift, own.pfc);
    }
}

void
ClassSwitch::ForwardOfClass(Packet* packet, SwitchPort& ingress)
{
    const auto classes = static_cast<uint32_t>(m_classes.size());
    const uint32_t own = packet->flow->Class();
    ForwardAs(packet, ingress, ingress.Index() * classes + own, own);
}

void
ClassSwitch::ReleaseOfClass(const Packet& packet)
{
    const auto classes = static_cast<uint32_t>(m_classes.size());
    const uint32_t account = packet.ingressPort;
    m_buffer.Remove(account, packet.wireBytes);
    if (m_buffer.TakeResume(account))
    {
        m_ports[account / classes]->SendPfc(PacketKind::Resume, account % classes);
    }
}

void
ClassSwitch::ForgetPause(const SwitchPort& port)
{
    const auto classes = static_cast<uint32_t>(m_classes.size());
    for (uint32_t own = 0; own < classes; ++own)
    {
        m_buffer.ForgetPause(port.Index() * classes + own);
    }
}

void
ClassSwitch::PauseIfNeeded(SwitchPort& port)
{
    const auto classes = static_cast<uint32_t>(m_classes.size());
    for (uint32_t own = 0; own < classes; ++own)
    {
        if (m_buffer.TakePause(port.Index() * classes + own))
        {
            port.SendPfc(PacketKind::Pause, own);
        }
    }
}

} // namespace ns3::env::rdma
