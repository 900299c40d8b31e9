// SPDX-License-Identifier: GPL-2.0-or-later
#include "nic.h"

#include "queue-pair.h"

#include <algorithm>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Nic);

TypeId
Nic::GetTypeId()
{
    static TypeId tid = TypeId("rdma::Nic").SetParent<Port>().SetGroupName("Rdma");
    return tid;
}

Nic::Nic(NetworkContext& network, uint32_t nodeId)
    : Port(network, nodeId, 0)
{
}

void
Nic::AddFlow(QueuePair& flow)
{
    m_flows.push_back(&flow);
}

void
Nic::RemoveFlow(QueuePair& flow)
{
    const auto it = std::find(m_flows.begin(), m_flows.end(), &flow);
    const auto index = static_cast<size_t>(it - m_flows.begin());
    m_flows.erase(it);
    if (index < m_turn)
    {
        --m_turn;
    }
}

void
Nic::NotifyKnobs(const QueuePair& flow, Picos now)
{
    if (m_network.knobTrace)
    {
        m_network.knobTrace(flow, now);
    }
}

Packet*
Nic::Dequeue(Picos now)
{
    if (IsPaused())
    {
        return nullptr; // ACKs share the data class
    }
    if (Packet* ack = m_acks.Pop(); ack != nullptr)
    {
        return ack;
    }
    const size_t count = m_flows.size();
    for (size_t i = 0; i < count; ++i)
    {
        const size_t index = (m_turn + i) % count;
        if (m_flows[index]->ReadyAt() <= now)
        {
            m_turn = index + 1; // may be the place of a flow that starts before the next packet
            return m_flows[index]->NextPacket(m_network, now);
        }
    }
    return nullptr;
}

Picos
Nic::NextReady(Picos now) const
{
    if (IsPaused())
    {
        return NEVER;
    }
    if (!m_acks.IsEmpty())
    {
        return now;
    }
    Picos next = NEVER;
    for (const QueuePair* flow : m_flows)
    {
        next = std::min(next, flow->ReadyAt());
    }
    return next;
}

void
Nic::Receive(Packet* packet)
{
    QueuePair& flow = *packet->flow;
    if (packet->kind == PacketKind::Data)
    {
        m_deliveredPayload += packet->payloadBytes;
        if (flow.OnData(*packet, packet->arrival))
        {
            m_acks.Push(packet);
            Kick();
        }
        else
        {
            m_network.Release(packet);
        }
        return;
    }
    const double window = flow.WindowBytes();
    const double rate = flow.RateBps();
    flow.OnFeedback(*packet, packet->arrival);
    if (flow.WindowBytes() != window || flow.RateBps() != rate)
    {
        NotifyKnobs(flow, packet->arrival);
    }
    m_network.Release(packet);
    Kick();
}

} // namespace ns3::rdma
