// SPDX-License-Identifier: GPL-2.0-or-later
// Time-weighted queue-length statistics.
#include "queue-stats.h"

#include <algorithm>
#include <bit>

namespace ns3::env
{

uint32_t
QueueStats::Bin(uint64_t bytes)
{
    if (bytes < (2U << SUB_BITS))
    {
        return static_cast<uint32_t>(bytes);
    }
    const auto shift = static_cast<uint32_t>(std::bit_width(bytes)) - SUB_BITS - 1;
    return (shift << SUB_BITS) + static_cast<uint32_t>(bytes >> shift);
}

uint64_t
QueueStats::UpperEdge(uint32_t bin)
{
    if (bin < (2U << SUB_BITS))
    {
        return bin;
    }
    const uint32_t shift = (bin >> SUB_BITS) - 1;
    const uint64_t mantissa = bin - (shift << SUB_BITS);
    return ((mantissa + 1) << shift) - 1;
}

void
QueueStats::Append(const QueueStats& later)
{
    m_time.resize(std::max(m_time.size(), later.m_time.size()), 0);
    for (size_t bin = 0; bin < later.m_time.size(); ++bin)
    {
        m_time[bin] += later.m_time[bin];
    }
    m_area += later.m_area;
    m_max = std::max(m_max, later.m_max);
    m_bytes = later.m_bytes;
    m_since += later.m_since - later.m_origin;
}

uint64_t
QueueStats::Percentile(double p) const
{
    const double target = p * static_cast<double>(m_since - m_origin);
    double seen = 0;
    for (uint32_t bin = 0; bin < m_time.size(); ++bin)
    {
        seen += static_cast<double>(m_time[bin]);
        if (seen >= target && m_time[bin] > 0)
        {
            return std::min(UpperEdge(bin), m_max);
        }
    }
    return m_max;
}

} // namespace ns3::env
