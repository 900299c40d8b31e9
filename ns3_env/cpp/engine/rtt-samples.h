// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics of a flow's RTT samples, each of the same weight: count, mean, percentiles.
#pragma once

#include "queue-stats.h"

#include <cstdint>

namespace ns3::env
{

/// A histogram with bins no wider than 1/32 of their value: statistics over time, in which each sample lasts one tick.
class RttSamples
{
  public:
    void Add(Picos rtt)
    {
        m_stats.Update(static_cast<uint64_t>(rtt), m_count);
        m_first = m_count == 0 ? rtt : m_first;
        m_last = rtt;
        ++m_count;
    }

    /// Adds another flow's samples.
    void Add(const RttSamples& others)
    {
        m_stats = Closed();
        m_stats.Append(others.Closed());
        m_first = m_count == 0 ? others.m_first : m_first;
        m_last = others.m_count > 0 ? others.m_last : m_last;
        m_count += others.m_count;
    }

    int64_t Count() const { return m_count; }
    Picos First() const { return m_first; } ///< 0 without samples
    Picos Last() const { return m_last; }   ///< 0 without samples
    double Mean() const { return Closed().Mean(); }
    /// The `p`-quantile of the samples, `p` in [0, 1]: the bin's upper edge, at most the largest sample.
    Picos Percentile(double p) const { return static_cast<Picos>(Closed().Percentile(p)); }
    Picos Max() const { return static_cast<Picos>(Closed().Max()); }

  private:
    QueueStats Closed() const
    {
        QueueStats stats = m_stats;
        stats.Finish(m_count);
        return stats;
    }

    QueueStats m_stats{0};
    int64_t m_count{0};
    Picos m_first{0};
    Picos m_last{0};
};

} // namespace ns3::env
