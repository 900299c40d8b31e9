// SPDX-License-Identifier: GPL-2.0-or-later
// The hops' records of the ACK before, with which those of this one are compared.
#pragma once

#include "ns3_env/cpp/contract/congestion-control.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ns3::env::rdma
{

/// Records of one path through the network (HPCC's "pathID"): those of different paths are not comparable.
class HopHistory
{
  public:
    /// Reports whether the records are of the same ports as the stored ones.
    bool Matches(const AckSample& ack) const
    {
        return m_stored && m_way == ack.way && m_count == std::min(ack.hops.size(), m_last.size());
    }

    void Store(const AckSample& ack)
    {
        m_count = std::min(ack.hops.size(), m_last.size());
        std::copy_n(ack.hops.begin(), m_count, m_last.begin());
        m_way = ack.way;
        m_stored = true;
    }

    size_t Count() const { return m_count; }
    const IntRecord& operator[](size_t hop) const { return m_last[hop]; }

  private:
    std::array<IntRecord, MAX_INT_HOPS> m_last{};
    size_t m_count{0};
    uint32_t m_way{0};
    bool m_stored{false};
};

} // namespace ns3::env::rdma
