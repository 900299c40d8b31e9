// SPDX-License-Identifier: GPL-2.0-or-later
// Network card of the published simulator: its order of sending, and its one timer.
#include "nic.h"

#include "ns3_env/cpp/rdma/host/queue-pair.h"

#include <algorithm>

namespace ns3::env::rdma::published
{

NS_OBJECT_ENSURE_REGISTERED(Nic);

TypeId
Nic::GetTypeId()
{
    static TypeId tid = TypeId("rdma::published::Nic").SetParent<rdma::Nic>().SetGroupName("Rdma");
    return tid;
}

Nic::Nic(NetworkContext& network, uint32_t nodeId, bool acksPassPause)
    : rdma::Nic(network, nodeId),
      m_wakeUp([this] { Kick(); }, nodeId),
      m_acksPassPause(acksPassPause),
      m_dcqcn(TypeId::LookupByName("rdma::dcqcn")),
      m_timely(TypeId::LookupByName("rdma::timely"))
{
}

void
Nic::RemoveFlow(QueuePair& flow)
{
    if (flow.IsFinished() && flow.SentBytes() < flow.SizeBytes())
    {
        flow.CountPackets(1); // keeps the object until it leaves the list
        return;
    }
    *std::find(m_list.begin(), m_list.end(), &flow) = nullptr;
}

bool
Nic::MaySend(const QueuePair& flow) const
{
    // bytes in flight are unsigned: a negative number exceeds any window
    const bool wraps = flow.SentBytes() < flow.AckedBytes();
    const bool open =
        flow.ReadyAt() != NEVER && !(wraps && flow.WindowBytes() != Pacing::NO_WINDOW);
    return open && !IsPaused();
}

bool
Nic::Leave(QueuePair* flow)
{
    if (flow != nullptr && flow->IsFinished())
    {
        flow->CountPackets(-1);
        return true;
    }
    return flow == nullptr;
}

QueuePair*
Nic::NextFlow(Picos now)
{
    const size_t count = m_list.size();
    size_t chosen = count;
    size_t gap = count;
    size_t index = m_served < count ? m_served : m_served % std::max<size_t>(count, 1);
    for (size_t i = 0; i < count && chosen == count; ++i)
    {
        index = index + 1 < count ? index + 1 : 0;
        const QueuePair* candidate = m_list[index];
        if (candidate != nullptr && MaySend(*candidate))
        {
            chosen = candidate->ReadyAt() <= now ? index : count;
        }
        else if (candidate == nullptr || candidate->IsFinished())
        {
            gap = std::min(gap, index);
        }
    }
    QueuePair* flow = chosen < count ? m_list[chosen] : nullptr;
    if (gap < count)
    {
        const auto first = m_list.begin() + static_cast<std::ptrdiff_t>(gap);
        m_list.erase(std::remove_if(first, m_list.end(), &Nic::Leave), m_list.end());
        chosen =
            static_cast<size_t>(std::find(m_list.begin(), m_list.end(), flow) - m_list.begin());
    }
    m_served = flow != nullptr ? chosen : m_served;
    return flow;
}

bool
Nic::PassesPause(const Packet& ack) const
{
    const TypeId controller = ack.flow->Controller().GetInstanceTypeId();
    return m_acksPassPause || controller == m_dcqcn || controller == m_timely;
}

Packet*
Nic::Dequeue(Picos now)
{
    const Packet* ack = m_acks.Front();
    if (ack != nullptr && (!IsPaused() || PassesPause(*ack)))
    {
        return m_acks.Pop();
    }
    QueuePair* flow = NextFlow(now);
    return flow != nullptr ? Take(*flow, now) : nullptr;
}

Picos
Nic::NextReady(Picos now)
{
    Picos earliest = NEVER;
    for (const QueuePair* flow : m_list)
    {
        earliest = flow != nullptr ? std::min(earliest, flow->PacedUntil()) : earliest;
    }
    m_wakeUp.OnIdle(earliest, now);
    return NEVER;
}

} // namespace ns3::env::rdma::published
