// SPDX-License-Identifier: GPL-2.0-or-later
// T-DCTCP on a TCP socket: ECN marks and RTTs of a window of data, TCP's own slow start.
#include "tdctcp.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <limits>

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

NS_OBJECT_ENSURE_REGISTERED(TDctcp);

TypeId
TDctcp::GetTypeId()
{
    static constexpr TDctcpSettings DEFAULTS;
    static TypeId tid =
        Declaration<TDctcp, TcpDctcp>("tcp::tdctcp")
            .Number("Beta",
                    "Weight of the newest RTT difference: beta (Liang 2018, Fig. 3-2, line 3).",
                    &TDctcp::m_gradientWeight,
                    {DEFAULTS.gradientWeight, 0.0, 1.0})
            .Number("G",
                    "Weight of the newest share of marked bytes: g (Liang 2018, Fig. 3-2, line 5).",
                    &TDctcp::m_alphaWeight,
                    {DEFAULTS.alphaWeight, 0.0, 1.0})
            .Number("AlphaFactor",
                    "Running share of marks from which on marks decide, not the RTT (Liang 2018, "
                    "Fig. 3-2, line 6).",
                    &TDctcp::m_alphaFactor,
                    {DEFAULTS.alphaFactor, 0.0, 1.0})
            .Number(
                "AddStep",
                "Packets by which a window grows: addstep (Liang 2018, Fig. 3-2, lines 8 and 16).",
                &TDctcp::m_addStep,
                {DEFAULTS.addStep, 0.0, 1e6})
            .Number(
                "Decrement",
                "Strength of the RTT's reductions: decre (Liang 2018, Fig. 3-2, lines 12 and 18).",
                &TDctcp::m_decrement,
                {DEFAULTS.decrement, 0.0, 1.0})
            .Number("Theta",
                    "Divisor of alpha / 2 where marks meet a short or falling RTT (Liang 2018, "
                    "Fig. 3-2, lines 22 and 30): above 1 the cut is smaller than DCTCP's, at the "
                    "default 1/2 it is twice as large.",
                    &TDctcp::m_theta,
                    {DEFAULTS.theta, 0.5, 1e6})
            .Number("LowThreshold",
                    "RTT at 100 Mb/s below which nothing is congested: T_low (Liang 2018, sec. "
                    "3.4); see LineRate.",
                    &TDctcp::m_low,
                    {MilliSeconds(5), Time(0), Seconds(1000)})
            .Number("HighThreshold",
                    "RTT at 100 Mb/s above which all is congested: T_high (Liang 2018, sec. 3.4); "
                    "see LineRate.",
                    &TDctcp::m_high,
                    {MilliSeconds(50), Time(0), Seconds(1000)})
            .Add(
                "LineRate",
                "Rate of the host's link: both thresholds are scaled by 100 Mb/s / LineRate, since "
                "they are times of a window at 100 Mb/s. At 100 Mb/s they are taken as they are.",
                DataRateValue(DataRate("100Mb/s")),
                MakeDataRateAccessor(&TDctcp::m_lineRate),
                MakeDataRateChecker())
            .Number("HurryAfter",
                    "Windows in a row with a falling RTT that make growth hurry (Liang 2018, Fig. "
                    "3-2, line 16).",
                    &TDctcp::m_hurryAfter,
                    {DEFAULTS.hurryAfter, 1, 1'000'000})
            .Number("Hurry",
                    "Steps at once then: N (Liang 2018, Fig. 3-2, line 16).",
                    &TDctcp::m_hurry,
                    {DEFAULTS.hurry, 1.0, 1e6})
            .Number(
                "InitialAlpha",
                "Share of marks before the first window. From DCTCP's 1 it would take 33 windows "
                "without a mark to come below AlphaFactor, and no window would grow until then.",
                &TDctcp::m_initialAlpha,
                {DEFAULTS.initialAlpha, 0.0, 1.0})
            .Number("LeastWindow",
                    "Packets; no reduction goes below.",
                    &TDctcp::m_leastPackets,
                    {DEFAULTS.leastPackets, 1.0, 1e6})
            .Flag("CutUnmarked",
                  "Whether cases 5 to 8 (Liang 2018, Fig. 3-2) cut at the end of each window of "
                  "data as long as alpha is high; otherwise once in each window that has a mark, "
                  "through the slow start threshold (Liang 2018, sec. 3.3), as DCTCP does.",
                  &TDctcp::m_cutUnmarked,
                  false)
            .State("Alpha", "Running share of marked bytes.", &TDctcp::m_alpha)
            .State("RttGradient",
                   "Smoothed difference of RTTs, over the least RTT.",
                   &TDctcp::m_gradient);
    return tid;
}

TDctcpSettings
TDctcp::Settings() const
{
    const auto lineRateBps = static_cast<double>(m_lineRate.GetBitRate());
    const auto threshold = [&](const Time& time)
    { return ThresholdNs(static_cast<double>(time.GetNanoSeconds()), lineRateBps); };
    return {.gradientWeight = m_gradientWeight,
            .alphaWeight = m_alphaWeight,
            .alphaFactor = m_alphaFactor,
            .addStep = m_addStep,
            .decrement = m_decrement,
            .theta = m_theta,
            .lowNs = threshold(m_low),
            .highNs = threshold(m_high),
            .hurryAfter = m_hurryAfter,
            .hurry = m_hurry,
            .initialAlpha = m_initialAlpha,
            .leastPackets = m_leastPackets};
}

uint32_t
TDctcp::WindowOf(double packets, const TcpSocketState& tcb) const
{
    const double bytes = std::max(packets, m_leastPackets) * tcb.m_segmentSize;
    return static_cast<uint32_t>(
        std::min(bytes, static_cast<double>(std::numeric_limits<uint32_t>::max())));
}

TDctcpDecision
TDctcp::Decide(const TcpSocketState& tcb) const
{
    const double packets = static_cast<double>(tcb.m_cWnd.Get()) / tcb.m_segmentSize;
    const TDctcpState state =
        m_estimate ? m_estimate->State() : TDctcpState{.alpha = m_initialAlpha};
    return DecideWindow(Settings(), state, packets);
}

void
TDctcp::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& /* smoothed */)
{
    const uint64_t bytes = static_cast<uint64_t>(segmentsAcked) * tcb->m_segmentSize;
    m_ackedBytes += bytes;
    m_markedBytes += tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD ? bytes : 0;
    if (!m_estimate)
    {
        m_estimate.emplace(Settings());
    }
    const Time rtt = tcb->m_lastRtt;
    if (rtt.IsStrictlyPositive())
    {
        m_estimate->SeeRtt(static_cast<double>(rtt.GetNanoSeconds()));
    }
    if (m_windowEnd && tcb->m_lastAckedSeq >= *m_windowEnd)
    {
        EndWindow(tcb);
    }
    if (!m_windowEnd || tcb->m_lastAckedSeq >= *m_windowEnd)
    {
        m_windowEnd = tcb->m_nextTxSequence.Get();
        m_ackedBytes = 0;
        m_markedBytes = 0;
    }
}

void
TDctcp::EndWindow(Ptr<TcpSocketState> tcb)
{
    const Time rtt = tcb->m_lastRtt;
    const TcpSocketState::TcpCongState_t state = tcb->m_congState;
    const bool whole = state == TcpSocketState::CA_OPEN || state == TcpSocketState::CA_CWR;
    if (m_ackedBytes == 0 || !rtt.IsStrictlyPositive() || !whole)
    {
        return; // RTTs of a recovery include the wait for lost data
    }
    m_estimate->EndWindow(static_cast<double>(rtt.GetNanoSeconds()),
                          static_cast<double>(m_markedBytes) / static_cast<double>(m_ackedBytes));
    m_alpha = m_estimate->State().alpha;
    m_gradient = m_estimate->State().gradient;
    if (state != TcpSocketState::CA_OPEN)
    {
        return; // a reduction is in progress
    }
    const TDctcpDecision decision = Decide(*tcb);
    if (decision.which >= TDctcpCase::MarkedClear && !m_cutUnmarked)
    {
        return;
    }
    const uint32_t window = WindowOf(decision.packets, *tcb);
    if (window < tcb->m_cWnd)
    {
        tcb->m_cWnd = window;
        tcb->m_ssThresh = window;
    }
    else if (tcb->m_cWnd >= tcb->m_ssThresh)
    {
        tcb->m_cWnd = window;
    }
}

void
TDctcp::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    if (tcb->m_cWnd < tcb->m_ssThresh)
    {
        SlowStart(tcb, segmentsAcked);
    }
}

uint32_t
TDctcp::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t /* bytesInFlight */)
{
    const TDctcpDecision decision = Decide(*tcb);
    // ns-3 calls this at a mark before it enters CA_CWR, at a timeout before it enters CA_LOSS.
    const bool marked = tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD &&
                        tcb->m_congState != TcpSocketState::CA_RECOVERY;
    const double half = 0.5 * tcb->m_cWnd / tcb->m_segmentSize;
    return WindowOf(marked ? decision.packets : std::min(decision.packets, half), *tcb);
}

} // namespace ns3::env::tcp
