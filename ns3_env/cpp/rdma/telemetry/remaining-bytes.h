// SPDX-License-Identifier: GPL-2.0-or-later
// Table of the remaining bytes of flows at one egress port (Hong 2012, PDQ, sec. 3.3).
#pragma once

#include "ns3_env/cpp/rdma/link/packet.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3::env::rdma
{

/// Table of a port: a row for each flow that reports its remaining bytes, until its last packet has left or it is
/// silent.
class RemainingBytes
{
  public:
    /// \param silence after which a flow is taken to wait elsewhere
    explicit RemainingBytes(Picos silence)
        : m_silence(silence)
    {
    }

    /// A packet reports that its flow has `bytes` left, including itself. Returns the total of flows with less left; of
    /// two flows with equal bytes the one with the smaller number goes first.
    uint64_t Tell(uint32_t flow, uint64_t bytes, Picos now)
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

    /// The flow's last packet has left.
    void Forget(uint32_t flow)
    {
        std::erase_if(m_rows, [flow](const Row& row) { return row.flow == flow; });
    }

    /// Writes a backlog into a packet's field, which keeps the longest of the hops that it passes.
    static void Write(Packet& packet, double backlogNs)
    {
        constexpr double MOST = std::numeric_limits<uint32_t>::max();
        const auto ns = static_cast<uint32_t>(std::min(backlogNs, MOST));
        packet.shorterBacklogNs = packet.intHops == 1 ? ns : std::max(packet.shorterBacklogNs, ns);
    }

  private:
    struct Row
    {
        uint32_t flow;
        uint64_t bytes;
        Picos told;
    };

    Picos m_silence;
    std::vector<Row> m_rows;
};

} // namespace ns3::env::rdma
