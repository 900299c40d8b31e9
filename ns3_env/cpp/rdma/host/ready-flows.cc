// SPDX-License-Identifier: GPL-2.0-or-later
// Live flows of a host, served in turn when they are ready.
#include "ready-flows.h"

#include <bit>

namespace ns3::env::rdma
{

void
ReadyFlows::Add(QueuePair& flow)
{
    m_flows.push_back(&flow);
    ++m_count;
    if (AreMany() ? m_flows.size() > Places() : m_count > FEW)
    {
        Arrange(true);
    }
    else if (AreMany())
    {
        flow.SetPlace(m_flows.size() - 1);
        OnChange(flow);
    }
}

void
ReadyFlows::Remove(QueuePair& flow)
{
    --m_count;
    if (!AreMany())
    {
        const auto at = std::find(m_flows.begin(), m_flows.end(), &flow);
        const auto place = static_cast<size_t>(at - m_flows.begin());
        m_flows.erase(at);
        m_next -= place < m_next ? 1 : 0; // the flows behind it have moved up
        return;
    }
    const size_t place = flow.Place();
    m_flows[place] = nullptr;
    Set(place, NEVER);
    flow.SetPlace(QueuePair::NO_PLACE);
    if (m_count <= FEW / 2)
    {
        Arrange(false);
    }
}

void
ReadyFlows::OnChange(const QueuePair& flow)
{
    if (const size_t place = flow.Place(); place != QueuePair::NO_PLACE)
    {
        Set(place, flow.ReadyAt());
    }
}

void
ReadyFlows::Arrange(bool many)
{
    const auto next = m_flows.begin() + static_cast<ptrdiff_t>(std::min(m_next, m_flows.size()));
    m_next -= static_cast<size_t>(std::count(m_flows.begin(), next, nullptr));
    std::erase(m_flows, nullptr);
    m_many = many;
    m_tree.assign(many ? 4 * std::bit_ceil(m_count) : 0, NEVER);
    for (size_t place = 0; place < m_flows.size(); ++place)
    {
        m_flows[place]->SetPlace(many ? place : QueuePair::NO_PLACE);
        if (many)
        {
            OnChange(*m_flows[place]);
        }
    }
}

void
ReadyFlows::Set(size_t place, Picos readyAt)
{
    size_t node = Places() + place;
    m_tree[node] = readyAt;
    while (node > 1)
    {
        const Picos least = std::min(m_tree[node], m_tree[node ^ 1]);
        node /= 2;
        if (m_tree[node] == least)
        {
            return;
        }
        m_tree[node] = least;
    }
}

size_t
ReadyFlows::FirstReadyFrom(size_t place, Picos now) const
{
    if (place >= Places())
    {
        return Places();
    }
    size_t node = Places() + place;
    while (m_tree[node] > now)
    {
        while (node % 2 == 1) // it is the right child of its parent
        {
            node /= 2;
        }
        if (node == 0)
        {
            return Places();
        }
        ++node;
    }
    while (node < Places())
    {
        node = m_tree[2 * node] <= now ? 2 * node : 2 * node + 1;
    }
    return node - Places();
}

QueuePair*
ReadyFlows::TakeTurnOfMany(Picos now)
{
    size_t place = FirstReadyFrom(m_next, now);
    if (place == Places())
    {
        place = FirstReadyFrom(0, now);
    }
    if (place == Places())
    {
        return nullptr;
    }
    m_next = place + 1;
    return m_flows[place];
}

} // namespace ns3::env::rdma
