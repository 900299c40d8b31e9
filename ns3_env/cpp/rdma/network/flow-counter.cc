// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of the flows that share an egress port: exact, or by timeout.
#include "flow-counter.h"

#include "queue-pair.h"

namespace ns3::env::rdma
{

void
ExactFlowCounter::OnEnqueue(const Packet& packet, Picos)
{
    m_flows += packet.flow->MarkCounted(packet.hop) ? 1 : 0;
}

void
ExactFlowCounter::OnDequeue(const Packet& packet)
{
    if (packet.last)
    {
        m_flows -= packet.flow->ClearCounted(packet.hop) ? 1 : 0;
    }
}

uint32_t
ExactFlowCounter::Count(Picos)
{
    return m_flows;
}

TimeoutFlowCounter::TimeoutFlowCounter(Picos timeout)
    : m_timeout(timeout)
{
}

void
TimeoutFlowCounter::OnEnqueue(const Packet& packet, Picos now)
{
    if (packet.flow->IsOpenLoop())
    {
        return;
    }
    const uint32_t flow = packet.flow->Id();
    auto it = m_entries.find(flow);
    if (it == m_entries.end())
    {
        m_bySeen.push_front({flow, now});
        m_entries.emplace(flow, m_bySeen.begin());
        return;
    }
    it->second->seen = now;
    m_bySeen.splice(m_bySeen.begin(), m_bySeen, it->second);
}

void
TimeoutFlowCounter::OnDequeue(const Packet&)
{
}

uint32_t
TimeoutFlowCounter::Count(Picos now)
{
    while (!m_bySeen.empty() && now - m_bySeen.back().seen > m_timeout)
    {
        m_entries.erase(m_bySeen.back().flow);
        m_bySeen.pop_back();
    }
    return static_cast<uint32_t>(m_bySeen.size());
}

} // namespace ns3::env::rdma
