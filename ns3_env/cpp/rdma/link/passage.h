// SPDX-License-Identifier: GPL-2.0-or-later
// Packets on links from one part of a network to other parts.
#pragma once

#include "packet.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::env::rdma
{

class Port;

/// A packet in flight to a port of another part; its `arrival` is when it will be there.
struct Passenger
{
    Port* into;
    Packet* packet;
};

/// Packets that one part sends to other parts in a window. They enter at the start of the next one.
class alignas(CACHE_LINE) Passage
{
  public:
    /// `packet` will be at `into`, of part `destination`, at `arrival`.
    void Put(uint32_t destination, Port& into, Packet* packet, Picos arrival)
    {
        packet->arrival = arrival;
        m_entries.push_back({{&into, packet}, destination});
        m_earliest = std::min(m_earliest, arrival);
    }

    /// Delivers the packets of a finished window to their parts, in order.
    /// \returns the earliest arrival, NEVER without any
    Picos Turn(std::vector<std::vector<Passenger>>& towards)
    {
        for (const Entry& entry : m_entries)
        {
            towards[entry.destination].push_back(entry.passenger);
        }
        m_entries.clear();
        return std::exchange(m_earliest, NEVER);
    }

  private:
    struct Entry
    {
        Passenger passenger;
        uint32_t destination;
    };

    std::vector<Entry> m_entries;
    Picos m_earliest{NEVER};
};

} // namespace ns3::env::rdma
