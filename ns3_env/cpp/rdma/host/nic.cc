// SPDX-License-Identifier: GPL-2.0-or-later
// Network card of a host: sends ACKs first, then its queue pairs' packets in turn.
#include "nic.h"

#include "ns3/trace-source-accessor.h"
#include "ns3_env/cpp/rdma/switch/network-rules.h"

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Nic);

TypeId
Nic::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::Nic")
            .SetParent<Port>()
            .SetGroupName("Rdma")
            .AddTraceSource("WindowAndRate",
                            "A flow has started, or its window or rate has changed.",
                            MakeTraceSourceAccessor(&Nic::m_windowTrace),
                            "ns3::env::rdma::Nic::WindowAndRateTracedCallback");
    return tid;
}

Nic::Nic(NetworkContext& network, uint32_t nodeId)
    : Port(network, nodeId, 0)
{
}

void
Nic::AddFlow(QueuePair& flow)
{
    m_flows.Add(flow);
    m_tellsReadiness |= m_flows.AreMany();
}

void
Nic::RemoveFlow(QueuePair& flow)
{
    m_flows.Remove(flow);
}

void
Nic::TakeWindowAndRate(QueuePair& flow, Picos now)
{
    if (flow.WindowAndRate().TakeRepaced())
    {
        OnRepaced(flow, now);
    }
    if (flow.WindowAndRate().TakeChange())
    {
        m_windowTrace(flow, now);
    }
    TakeReadiness(flow);
}

Packet*
Nic::Take(QueuePair& flow, Picos now)
{
    Packet* packet = flow.NextPacket(m_network, now);
    TakeWindowAndRate(flow, now);
    return packet;
}

Packet*
Nic::Dequeue(Picos now)
{
    if (IsPaused()) // ACKs share the data class: a pause also stops them
    {
        return nullptr;
    }
    if (Packet* ack = m_acks.Pop(); ack != nullptr)
    {
        return ack;
    }
    QueuePair* flow = m_flows.TakeTurn(now);
    return flow != nullptr ? Take(*flow, now) : nullptr;
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
    return m_flows.NextReady();
}

void
Nic::Send(Packet* answer)
{
    m_acks.Push(answer);
    Kick();
}

void
Nic::Receive(Packet* packet)
{
    auto& flow = static_cast<QueuePair&>(*packet->flow); // hosts know it as one
    if (IsForReceiver(*packet))
    {
        m_deliveredPayload += packet->payloadBytes;
        const Answer answer = flow.OnData(*packet, packet->arrival);
        if (answer == Answer::Now) [[likely]]
        {
            Send(packet);
        }
        else if (answer == Answer::None)
        {
            m_network.Release(packet);
        }
        return;
    }
    if (packet->kind == PacketKind::Notification)
    {
        flow.OnNotification(*packet, packet->arrival);
    }
    else
    {
        flow.OnFeedback(*packet, packet->arrival);
    }
    TakeWindowAndRate(flow, packet->arrival);
    m_network.Release(packet);
    Kick();
}

Ptr<Nic>
NetworkRules::MakeNic(NetworkContext& network, uint32_t nodeId) const
{
    return CreateObject<Nic>(network, nodeId);
}

} // namespace ns3::env::rdma
