// SPDX-License-Identifier: GPL-2.0-or-later
// Live flows of a host, of which the ready one with the fewest bytes left is served first.
#include "shortest-flows.h"

#include "queue-pair.h"

#include <algorithm>

namespace ns3::env::rdma
{

void
ShortestFlows::Add(QueuePair& flow)
{
    flow.SetPlace(m_flows.size());
    m_flows.push_back(&flow);
    m_changes.push_back(0);
    OnChange(flow);
}

void
ShortestFlows::Remove(QueuePair& flow)
{
    m_flows[flow.Place()] = nullptr;
    ++m_changes[flow.Place()];
    flow.SetPlace(QueuePair::NO_PLACE);
}

void
ShortestFlows::OnChange(const QueuePair& flow)
{
    const uint32_t place = flow.Place();
    if (place == QueuePair::NO_PLACE)
    {
        return;
    }
    ++m_changes[place];
    if (const Picos readyAt = flow.ReadyAt(); readyAt != NEVER)
    {
        m_waiting.push({readyAt, {place, m_changes[place]}});
    }
}

void
ShortestFlows::Update(Picos now)
{
    while (!m_waiting.empty() && (m_waiting.top().first <= now || IsPast(m_waiting.top().second)))
    {
        const Version version = m_waiting.top().second;
        m_waiting.pop();
        if (!IsPast(version))
        {
            const QueuePair& flow = *m_flows[version.place];
            m_ready.push({flow.RemainingFrom(flow.SentBytes()), flow.NextAvailable(), version});
        }
    }
    while (!m_ready.empty() && IsPast(std::get<Version>(m_ready.top())))
    {
        m_ready.pop();
    }
}

QueuePair*
ShortestFlows::First(Picos now)
{
    Update(now);
    return m_ready.empty() ? nullptr : m_flows[std::get<Version>(m_ready.top()).place];
}

Picos
ShortestFlows::NextReady(Picos now)
{
    Update(now);
    if (!m_ready.empty())
    {
        return now;
    }
    return m_waiting.empty() ? NEVER : m_waiting.top().first;
}

} // namespace ns3::env::rdma
