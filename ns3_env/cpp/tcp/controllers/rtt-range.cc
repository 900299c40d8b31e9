// SPDX-License-Identifier: GPL-2.0-or-later
// Propagation and bottleneck RTT of a path (Lynn et al. 2020, eqs. 3 to 5).
#include "rtt-range.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::tcp
{

double
BackOff(double extremeNs, double meanNs, double dtNs, double decayNs)
{
    return meanNs + (extremeNs - meanNs) * std::exp(-dtNs / decayNs);
}

RttRange::RttRange(double decayRtts, double smoothing)
    : m_decayRtts(decayRtts),
      m_smoothing(smoothing)
{
}

void
RttRange::Start(double rttNs)
{
    m_minNs = m_maxNs = m_meanNs = rttNs;
}

void
RttRange::Observe(double rttNs, double dtNs)
{
    const double decayNs = m_decayRtts * m_meanNs;
    m_minNs = std::min(rttNs, BackOff(m_minNs, m_meanNs, dtNs, decayNs)); // eq. 4
    m_maxNs = std::max(rttNs, BackOff(m_maxNs, m_meanNs, dtNs, decayNs)); // eq. 5
}

void
RttRange::Smooth(double rttNs)
{
    m_meanNs += m_smoothing * (rttNs - m_meanNs);
}

} // namespace ns3::env::tcp
