// SPDX-License-Identifier: GPL-2.0-or-later
// Live flows of a host, of which the ready one with the fewest bytes left is served first.
#pragma once

#include "queue-pair.h"

#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace ns3::env::rdma
{

class QueuePair;

/// Flows by bytes left, then by their pacing times, then in the order in which they started: O(log flows) each time.
/// A caller that writes to a flow calls OnChange. A flow's old entries stay in the heaps until they reach the top.
class ShortestFlows
{
  public:
    void Add(QueuePair& flow)
    {
        flow.SetPlace(m_flows.size());
        m_flows.push_back(&flow);
        m_changes.push_back(0);
        OnChange(flow);
    }
    void Remove(QueuePair& flow)
    {
        m_flows[flow.Place()] = nullptr;
        ++m_changes[flow.Place()];
        flow.SetPlace(QueuePair::NO_PLACE);
    }
    /// Called when a flow's ready time or remaining bytes may have changed.
    void OnChange(const QueuePair& flow)
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

    /// The flow to be served, or null if none is ready.
    QueuePair* First(Picos now)
    {
        Update(now);
        return m_ready.empty() ? nullptr : m_flows[std::get<Version>(m_ready.top()).place];
    }
    /// The earliest time at which one is ready, `now` if one is, or NEVER.
    Picos NextReady(Picos now)
    {
        Update(now);
        if (!m_ready.empty())
        {
            return now;
        }
        return m_waiting.empty() ? NEVER : m_waiting.top().first;
    }

  private:
    /// A flow's place and how often it had changed.
    struct Version
    {
        uint32_t place;
        uint32_t changes;

        auto operator<=>(const Version&) const = default;
    };

    using Waiting = std::pair<Picos, Version>;          ///< by when it is ready
    using Ready = std::tuple<uint64_t, Picos, Version>; ///< by bytes left and pacing
    template <class Entry>
    using Heap = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

    bool IsPast(const Version& version) const
    {
        return m_changes[version.place] != version.changes;
    }
    void Update(Picos now)
    {
        while (!m_waiting.empty() &&
               (m_waiting.top().first <= now || IsPast(m_waiting.top().second)))
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

    std::vector<QueuePair*> m_flows; ///< in the order they started; null for a removed flow
    std::vector<uint32_t> m_changes; ///< by place
    Heap<Waiting> m_waiting;
    Heap<Ready> m_ready;
};

} // namespace ns3::env::rdma
