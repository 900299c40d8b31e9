// SPDX-License-Identifier: GPL-2.0-or-later
// Live flows of a host, served in turn when they are ready.
#pragma once

#include "queue-pair.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ns3::env::rdma
{

/// Flows in the order in which they started, served round robin. A few are each checked for when they are ready. For
/// many, these times are in a tournament tree, so that a turn needs O(log flows); a caller that writes to a flow then
/// calls OnChange.
class ReadyFlows
{
  public:
    /// Up to this number of flows are few.
    static constexpr size_t FEW = 32;

    void Add(QueuePair& flow);
    /// Removes the flow; the turn stays.
    void Remove(QueuePair& flow);
    /// Called when the time at which a flow is ready may have changed.
    void OnChange(const QueuePair& flow);

    /// The ready flow whose turn it is, which then moves behind all other flows; null without one.
    [[gnu::always_inline]] QueuePair* TakeTurn(Picos now)
    {
        return m_many ? TakeTurnOfMany(now) : TakeTurnOfFew(now);
    }

    /// The earliest time at which one is ready, or NEVER.
    [[gnu::always_inline]] Picos NextReady() const { return m_many ? m_tree[1] : NextReadyOfFew(); }

    /// Reports whether OnChange() has to be called.
    bool AreMany() const { return m_many; }

  private:
    [[gnu::always_inline]] QueuePair* TakeTurnOfFew(Picos now);
    QueuePair* TakeTurnOfMany(Picos now);
    [[gnu::always_inline]] Picos NextReadyOfFew() const;
    /// Closes the gaps, and rebuilds the tree if flows are many.
    void Arrange(bool many);
    void Set(size_t place, Picos readyAt);
    /// The first place from `place` on with a ready flow, or the number of places.
    size_t FirstReadyFrom(size_t place, Picos now) const;
    size_t Places() const { return m_tree.size() / 2; }

    std::vector<QueuePair*> m_flows; ///< of many: null for a removed flow
    size_t m_next{0};                ///< place behind that of the flow served last
    bool m_many{false};
    size_t m_count{0};
    std::vector<Picos> m_tree; ///< earliest time per node, from 1 on; the second half: by place
};

inline QueuePair*
ReadyFlows::TakeTurnOfFew(Picos now)
{
    const size_t count = m_flows.size();
    size_t place = m_next;
    for (size_t i = 0; i < count; ++i)
    {
        place = place < count ? place : 0;
        QueuePair* flow = m_flows[place++];
        if (flow->ReadyAt() <= now)
        {
            m_next = place;
            return flow;
        }
    }
    return nullptr;
}

inline Picos
ReadyFlows::NextReadyOfFew() const
{
    Picos next = NEVER;
    for (const QueuePair* flow : m_flows)
    {
        next = std::min(next, flow->ReadyAt());
    }
    return next;
}

} // namespace ns3::env::rdma
