// SPDX-License-Identifier: GPL-2.0-or-later
// Reordering of a flow's packets as its receiver sees it (RFC 4737).
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace ns3::env
{

/// Counts packets that arrive after one that was sent later. A retransmission is a new packet.
class PacketOrder
{
  public:
    /// Counts the arrival of a packet whose transmission started at `sentAt`, a time that no other packet of the flow
    /// has.
    void OnArrival(Picos sentAt)
    {
        ++m_arrived;
        if (m_latest.empty() || sentAt >= m_latest.back().sentAt)
        {
            m_latest.push_back({sentAt, m_arrived});
            if (m_latest.size() > MOST)
            {
                m_latest.pop_front();
            }
            return;
        }
        ++m_late;
        const auto before =
            std::upper_bound(m_latest.begin(),
                             m_latest.end(),
                             sentAt,
                             [](Picos time, const Arrival& x) { return time < x.sentAt; });
        m_distance = std::max(m_distance, m_arrived - before->number);
    }

    uint64_t Arrived() const { return m_arrived; }
    /// Packets that arrived out of order.
    uint64_t Late() const { return m_late; }
    /// Maximum number of arrivals between a packet and the first that overtook it (RFC 4737, "extent"), up to MOST.
    uint64_t Distance() const { return m_distance; }

  private:
    static constexpr size_t MOST = 4096;

    struct Arrival
    {
        Picos sentAt;
        uint64_t number;
    };

    std::deque<Arrival> m_latest; ///< last arrivals that no packet had overtaken
    uint64_t m_arrived{0};
    uint64_t m_late{0};
    uint64_t m_distance{0};
};

} // namespace ns3::env
