// SPDX-License-Identifier: GPL-2.0-or-later
// Histogram of decision times, which adds up over flows.
#include "decision-times.h"

#include <algorithm>
#include <cmath>

namespace ns3::env
{

void
DecisionTimes::Add(double microseconds)
{
    const double place = (std::log2(std::max(microseconds, 1e-9)) - FIRST) * OCTAVE;
    ++m_bins[static_cast<size_t>(std::clamp(place, 0.0, BINS - 1.0))];
    ++m_count;
    m_sum += microseconds;
}

void
DecisionTimes::Add(const DecisionTimes& other)
{
    for (size_t i = 0; i < BINS; ++i)
    {
        m_bins[i] += other.m_bins[i];
    }
    m_count += other.m_count;
    m_sum += other.m_sum;
}

double
DecisionTimes::Percentile(double p) const
{
    if (m_count == 0)
    {
        return 0.0;
    }
    double below = 0.0;
    size_t bin = 0;
    for (; bin + 1 < BINS; ++bin)
    {
        below += static_cast<double>(m_bins[bin]);
        if (below >= p * static_cast<double>(m_count))
        {
            break;
        }
    }
    return std::exp2(FIRST + (static_cast<double>(bin) + 0.5) / OCTAVE);
}

} // namespace ns3::env
