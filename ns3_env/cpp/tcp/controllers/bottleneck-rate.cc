// SPDX-License-Identifier: GPL-2.0-or-later
// Bottleneck rate r_B (Lynn et al. 2020, eq. 6), from what was sent and how the RTT moved.
#include "bottleneck-rate.h"

#include <cmath>

namespace ns3::env::tcp
{

BottleneckRate::BottleneckRate(double memoryRtts)
    : m_memoryRtts(memoryRtts)
{
}

void
BottleneckRate::Start(double rttNs, double rateBps)
{
    m_sent = {};
    m_timeNs = {};
    m_lastRttNs = rttNs;
    m_bps = rateBps;
}

void
BottleneckRate::Add(double rateBps, double dtNs, double rttNs)
{
    if (m_memoryRtts > 0)
    {
        const double kept = std::exp(-dtNs / (m_memoryRtts * m_lastRttNs));
        m_sent.Scale(kept);
        m_timeNs.Scale(kept);
    }
    m_sent.Add(rateBps * dtNs);
    m_timeNs.Add(dtNs);
    m_timeNs.Add(rttNs - m_lastRttNs);
    m_lastRttNs = rttNs;
    const double bps = m_sent.Value() / m_timeNs.Value();
    if (std::isfinite(bps) && bps > 0) // time stands still or runs back: no estimate
    {
        m_bps = bps;
    }
}

} // namespace ns3::env::tcp
