// SPDX-License-Identifier: GPL-2.0-or-later
// T-DCTCP's window as a function of plain numbers: the eight cases of Liang 2018, Fig. 3-2.
#include "tdctcp-control.h"

#include <algorithm>

namespace ns3::env::tcp
{

namespace
{

TDctcpDecision
ByRtt(const TDctcpSettings& s, const TDctcpState& now, double packets)
{
    if (now.rttNs < s.lowNs)
    {
        return {TDctcpCase::Clear, packets + s.addStep};
    }
    if (now.rttNs > s.highNs)
    {
        // line 12, with the parenthesis that it lacks
        const double kept = packets * (1 - s.decrement * (1 - s.highNs / now.rttNs));
        return {TDctcpCase::Long, kept - packets * now.alpha / 2};
    }
    if (now.gradient <= 0)
    {
        const double n = now.fallsInARow >= s.hurryAfter ? s.hurry : 1;
        return {TDctcpCase::Falling, packets + n * s.addStep};
    }
    // line 18: at least one packet less
    return {TDctcpCase::Rising, std::min(packets * (1 - s.decrement * now.gradient), packets - 1)};
}

TDctcpDecision
ByMarks(const TDctcpSettings& s, const TDctcpState& now, double packets)
{
    const double cutByTheta = packets * (1 - now.alpha / (2 * s.theta));
    if (now.rttNs < s.lowNs)
    {
        return {TDctcpCase::MarkedClear, cutByTheta};
    }
    if (now.rttNs > s.highNs)
    {
        return {TDctcpCase::MarkedLong, packets / 2};
    }
    if (now.gradient <= 0)
    {
        return {TDctcpCase::MarkedFalling, cutByTheta};
    }
    return {TDctcpCase::MarkedRising, packets * (1 - now.alpha / 2)};
}

} // namespace

TDctcpDecision
DecideWindow(const TDctcpSettings& settings, const TDctcpState& state, double packets)
{
    return state.alpha < settings.alphaFactor ? ByRtt(settings, state, packets)
                                              : ByMarks(settings, state, packets);
}

double
ThresholdNs(double at100MbpsNs, double lineRateBps)
{
    return at100MbpsNs * 100e6 / lineRateBps;
}

TDctcpEstimate::TDctcpEstimate(const TDctcpSettings& settings)
    : m_gradientWeight(settings.gradientWeight),
      m_alphaWeight(settings.alphaWeight),
      m_state{.alpha = settings.initialAlpha}
{
}

void
TDctcpEstimate::SeeRtt(double rttNs)
{
    m_leastRttNs = m_leastRttNs > 0 ? std::min(m_leastRttNs, rttNs) : rttNs;
}

void
TDctcpEstimate::EndWindow(double rttNs, double markedShare)
{
    SeeRtt(rttNs);
    const double difference = m_state.rttNs > 0 ? rttNs - m_state.rttNs : 0; // line 1
    m_state.rttNs = rttNs;                                                   // line 2
    m_differenceNs += m_gradientWeight * (difference - m_differenceNs);      // line 3
    m_state.gradient = m_differenceNs / m_leastRttNs;                        // line 4
    m_state.alpha += m_alphaWeight * (markedShare - m_state.alpha);          // line 5
    m_state.fallsInARow = m_state.gradient < 0 ? m_state.fallsInARow + 1 : 0;
}

} // namespace ns3::env::tcp
