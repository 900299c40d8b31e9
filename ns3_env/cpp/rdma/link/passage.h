// SPDX-License-Identifier: GPL-2.0-or-later
// Packets on links from one part of a network to another.
#ifndef NS3_ENV_RDMA_LINK_PASSAGE_H
#define NS3_ENV_RDMA_LINK_PASSAGE_H

#include "packet.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::env::rdma
{

class Port;

/// Packets that one part sends to another: those of a window are taken in when the next one begins. The sending part
/// fills one side, while the receiving one empties the other.
class Passage
{
  public:
    /// `packet` will be at `into` at `arrival`.
    void Put(Port& into, Packet* packet, Picos arrival)
    {
        m_sides[m_filled].push_back({&into, packet, arrival});
        m_earliest = std::min(m_earliest, arrival);
    }

    /// Shows what the window before brought, in order: `take(port, packet, arrival)`.
    template <class Take>
    void Empty(Take take)
    {
        std::vector<Entry>& side = m_sides[1 - m_filled];
        for (const Entry& entry : side)
        {
            take(*entry.into, entry.packet, entry.arrival);
        }
        side.clear();
    }

    /// A window is over. \returns the earliest arrival of what was put in, NEVER without any
    Picos Turn()
    {
        m_filled = 1 - m_filled;
        return std::exchange(m_earliest, NEVER);
    }

  private:
    struct Entry
    {
        Port* into;
        Packet* packet;
        Picos arrival;
    };

    std::array<std::vector<Entry>, 2> m_sides;
    uint32_t m_filled{0};
    Picos m_earliest{NEVER};
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_LINK_PASSAGE_H
