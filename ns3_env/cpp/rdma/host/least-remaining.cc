// SPDX-License-Identifier: GPL-2.0-or-later
// Ports that serve the flow with the least remaining bytes (pFabric, Alizadeh 2013).
#include "least-remaining.h"

#include "queue-pair.h"

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(LeastRemainingPort);
NS_OBJECT_ENSURE_REGISTERED(LeastRemainingNic);

void
LeastRemainingQueue::Push(Packet* packet)
{
    if (packet->kind != PacketKind::Data)
    {
        m_answers.Push(packet);
        return;
    }
    PacketFifo& own = m_packets[packet->flow];
    if (own.IsEmpty())
    {
        Wait(*packet);
    }
    own.Push(packet);
}

Packet*
LeastRemainingQueue::Pop()
{
    if (Packet* answer = m_answers.Pop(); answer != nullptr || m_flows.empty())
    {
        return answer;
    }
    const auto own = m_packets.find(m_flows.top().flow);
    m_flows.pop();
    Packet* packet = own->second.Pop();
    if (own->second.IsEmpty())
    {
        m_packets.erase(own); // the flow may end
    }
    else
    {
        Wait(*own->second.Front());
    }
    return packet;
}

TypeId
LeastRemainingPort::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::LeastRemainingPort").SetParent<SwitchPort>().SetGroupName("Rdma");
    return tid;
}

Packet*
LeastRemainingPort::Dequeue(Picos now)
{
    while (Packet* packet = m_queue.Pop())
    {
        m_waiting.Push(packet);
    }
    if (Packet* packet = m_waiting.Pop())
    {
        m_queue.Push(packet); // the chosen packet leaves as from any queue
    }
    return SwitchPort::Dequeue(now);
}

TypeId
LeastRemainingNic::GetTypeId()
{
    static TypeId tid = TypeId("rdma::LeastRemainingNic").SetParent<Nic>().SetGroupName("Rdma");
    return tid;
}

void
LeastRemainingNic::AddFlow(QueuePair& flow)
{
    m_tellsReadiness = true;
    m_shortest.Add(flow);
}

Packet*
LeastRemainingNic::Dequeue(Picos now)
{
    if (Packet* ack = m_acks.Pop(); ack != nullptr)
    {
        return ack;
    }
    QueuePair* best = m_shortest.First(now);
    return best != nullptr ? Take(*best, now) : nullptr;
}

} // namespace ns3::env::rdma
