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
    : Port(network, nodeId, 0),
      m_wakeUp([this] { Kick(); })
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
    *std::find(m_flows.begin(), m_flows.end(), &flow) = nullptr;
}

void
Nic::NotifyKnobs(const QueuePair& flow, Picos now)
{
    if (m_network.knobTrace)
    {
        m_network.knobTrace(flow, now);
    }
}

QueuePair*
Nic::NextFlow(Picos now)
{
    const size_t count = m_flows.size();
    size_t chosen = count;
    size_t gap = count;
    size_t index = m_served < count ? m_served : m_served % std::max<size_t>(count, 1);
    for (size_t i = 0; i < count && chosen == count; ++i)
    {
        index = index + 1 < count ? index + 1 : 0;
        if (m_flows[index] == nullptr)
        {
            gap = std::min(gap, index);
        }
        else if (!IsPaused() && m_flows[index]->ReadyAt() <= now)
        {
            chosen = index;
        }
    }
    QueuePair* flow = chosen < count ? m_flows[chosen] : nullptr;
    if (gap < count)
    {
        const auto first = m_flows.begin() + static_cast<std::ptrdiff_t>(gap);
        m_flows.erase(std::remove(first, m_flows.end(), nullptr), m_flows.end());
        // Who is next goes by the place in the list, which is not counted back for those that left it.
        chosen =
            static_cast<size_t>(std::find(m_flows.begin(), m_flows.end(), flow) - m_flows.begin());
    }
    m_served = flow != nullptr ? chosen : m_served;
    return flow;
}

Packet*
Nic::Dequeue(Picos now)
{
    // ACKs share the data class: a pause holds them back, too.
    Packet* ack = IsPaused() ? nullptr : m_acks.Pop();
    if (ack != nullptr)
    {
        return ack;
    }
    QueuePair* flow = NextFlow(now);
    if (flow == nullptr)
    {
        return nullptr;
    }
    const double rate = flow->RateBps();
    Packet* packet = flow->NextPacket(m_network, now);
    if (flow->RateBps() != rate)
    {
        NotifyKnobs(*flow, now);
    }
    return packet;
}

Picos
Nic::NextReady(Picos now)
{
    if (m_network.rounding == Rounding::TruncateNs)
    {
        Picos earliest = NEVER;
        for (const QueuePair* flow : m_flows)
        {
            earliest = flow != nullptr ? std::min(earliest, flow->PacedUntil()) : earliest;
        }
        m_wakeUp.OnIdle(earliest, now);
        return NEVER;
    }
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
        next = flow != nullptr ? std::min(next, flow->ReadyAt()) : next;
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
    if (flow.TakeRepaced())
    {
        m_wakeUp.OnRepaced(flow.NextAvailable(), packet->arrival);
    }
    if (flow.WindowBytes() != window || flow.RateBps() != rate)
    {
        NotifyKnobs(flow, packet->arrival);
    }
    m_network.Release(packet);
    Kick();
}

} // namespace ns3::rdma
