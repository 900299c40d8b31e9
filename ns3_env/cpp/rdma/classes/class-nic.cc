// SPDX-License-Identifier: GPL-2.0-or-later
// Network card of a network with several traffic classes: ACKs, flows and pauses of each.
#include "class-nic.h"

#include "ns3_env/cpp/rdma/host/queue-pair.h"

#include <algorithm>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(ClassNic);

TypeId
ClassNic::GetTypeId()
{
    static TypeId tid = TypeId("rdma::ClassNic").SetParent<Nic>().SetGroupName("Rdma");
    return tid;
}

ClassNic::ClassNic(NetworkContext& network,
                   uint32_t nodeId,
                   const std::vector<TrafficClass>& classes,
                   uint32_t frameBytes)
    : Nic(network, nodeId),
      m_queues(classes.size()),
      m_scheduler(classes, frameBytes)
{
}

void
ClassNic::AddFlow(QueuePair& flow)
{
    ReadyFlows& own = m_queues[flow.Class()].flows;
    own.Add(flow);
    m_tellsReadiness |= own.AreMany();
}

void
ClassNic::Kick()
{
    while (Packet* ack = m_acks.Pop())
    {
        m_queues[ack->flow->Class()].acks.Push(ack);
    }
    KickAs(*this);
}

Packet*
ClassNic::Dequeue(Picos now)
{
    const auto isReady = [&](uint32_t i)
    {
        const Queue& own = m_queues[i];
        return !m_pauses.Of(i) && (!own.acks.IsEmpty() || own.flows.NextReady() <= now);
    };
    const auto chosen = m_scheduler.Next(isReady);
    if (!chosen)
    {
        return nullptr;
    }
    Queue& own = m_queues[*chosen];
    Packet* packet = own.acks.Pop();
    if (packet == nullptr)
    {
        packet = Take(*own.flows.TakeTurn(now), now);
    }
    m_scheduler.OnSent(*chosen, packet->wireBytes);
    return packet;
}

Picos
ClassNic::NextReady(Picos now) const
{
    Picos next = NEVER;
    for (uint32_t i = 0; i < m_queues.size(); ++i)
    {
        if (m_pauses.Of(i))
        {
            continue;
        }
        if (!m_queues[i].acks.IsEmpty())
        {
            return now;
        }
        next = std::min(next, m_queues[i].flows.NextReady());
    }
    return next;
}

void
ClassNic::OnPfc(const Packet& frame)
{
    m_pauses.OnFrame(static_cast<uint32_t>(frame.sequence),
                     frame.kind == PacketKind::Pause,
                     frame.arrival);
    SetPaused(m_pauses.Any(), frame.arrival);
    Kick();
}

} // namespace ns3::env::rdma
