// SPDX-License-Identifier: GPL-2.0-or-later
// Table of the remaining bytes of flows at one egress port (Hong 2012, PDQ, sec. 3.3).
#include "remaining-bytes.h"

#include <algorithm>
#include <limits>

namespace ns3::env::rdma
{

RemainingBytes::RemainingBytes(Picos silence)
    : m_silence(silence)
{
}

uint64_t
RemainingBytes::Tell(uint32_t flow, uint64_t bytes, Picos now)
{
    uint64_t shorter = 0;
    Row* own = nullptr;
    for (size_t i = 0; i < m_rows.size();)
    {
        Row& row = m_rows[i];
        if (row.flow == flow)
        {
            own = &row;
        }
        else if (now - row.told > m_silence)
        {
            row = m_rows.back();
            m_rows.pop_back();
            continue;
        }
        else if (row.bytes < bytes || (row.bytes == bytes && row.flow < flow))
        {
            shorter += row.bytes;
        }
        ++i;
    }
    if (own == nullptr)
    {
        own = &m_rows.emplace_back();
    }
    *own = {flow, bytes, now};
    return shorter;
}

void
RemainingBytes::Write(Packet& packet, double backlogNs)
{
    constexpr double MOST = std::numeric_limits<uint32_t>::max();
    const auto ns = static_cast<uint32_t>(std::min(backlogNs, MOST));
    packet.shorterBacklogNs = packet.intHops == 1 ? ns : std::max(packet.shorterBacklogNs, ns);
}

} // namespace ns3::env::rdma
