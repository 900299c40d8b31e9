// SPDX-License-Identifier: GPL-2.0-or-later
// Histogram of decision times, which adds up over flows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ns3::env
{

/// Microseconds from 1/64 to 65536, eight bins per octave: percentiles are right to 5 %.
class DecisionTimes
{
  public:
    void Add(double microseconds);
    void Add(const DecisionTimes& other);

    uint64_t Count() const { return m_count; }
    /// Exact; 0 without decisions.
    double Mean() const { return m_count > 0 ? m_sum / static_cast<double>(m_count) : 0.0; }
    /// The middle of the bin of the `p`-quantile of the durations; 0 without decisions.
    double Percentile(double p) const;

  private:
    static constexpr int OCTAVE = 8;
    static constexpr int FIRST = -6; ///< octave of the first bin
    static constexpr size_t BINS = 22 * OCTAVE;

    std::array<uint64_t, BINS> m_bins{};
    uint64_t m_count{0};
    double m_sum{0.0};
};

} // namespace ns3::env
