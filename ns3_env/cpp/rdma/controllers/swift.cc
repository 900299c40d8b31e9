// SPDX-License-Identifier: GPL-2.0-or-later
// Swift controller, by the distance of a flow's delay from a target (Kumar 2020).
#include "swift.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Swift);

TypeId
Swift::GetTypeId()
{
    // Values without a cited source are those of htsim's Swift: the paper gives the formula, and of
    // its constants only ranges (docs/controllers.md).
    static TypeId tid =
        Declaration<Swift>("rdma::swift")
            .Number("BaseTarget",
                    "Target delay before hops and flows are counted (docs/sources/baselines.md); a "
                    "path's own base RTT where that is longer.",
                    &Swift::m_baseTarget,
                    {MicroSeconds(20), Time(0), Seconds(1000)})
            .Number("HopScale",
                    "Target delay added per switch of the path (docs/sources/baselines.md).",
                    &Swift::m_hopScale,
                    {NanoSeconds(3050), Time(0), Seconds(1000)})
            .Number("FlowScaleRange",
                    "fs_range: the most that flow scaling adds to the target (htsim: five base "
                    "targets); 0 for no flow scaling.",
                    &Swift::m_flowScaleRange,
                    {MicroSeconds(100), Time(0), Seconds(1000)})
            .Number("FlowScaleMinWindow",
                    "fs_min_cwnd: packets at and below which the whole range is added.",
                    &Swift::m_flowScaleMin,
                    {0.1, 1e-6, 1e6})
            .Number("FlowScaleMaxWindow",
                    "fs_max_cwnd: packets at and above which nothing is added.",
                    &Swift::m_flowScaleMax,
                    {100.0, 1e-6, 1e6})
            .Number(
                "AdditiveIncrease",
                "ai: packets added per round trip below the target (docs/sources/baselines.md).",
                &Swift::m_increase,
                {1.0, 0.0, 1e3})
            .Number("Beta",
                    "Strength of a decrease (docs/sources/baselines.md).",
                    &Swift::m_beta,
                    {0.8, 0.0, 1.0})
            .Number("MaxDecrease",
                    "max_mdf: the largest part of the window that one cut takes "
                    "(docs/sources/baselines.md).",
                    &Swift::m_maxDecrease,
                    {0.5, 0.0, 1.0})
            .Number("MinWindow",
                    "min_cwnd: least window in packets (htsim: 10 B).",
                    &Swift::m_minWindow,
                    {0.01, 1e-3, 1.0})
            .Number("MaxWindow",
                    "max_cwnd: largest window in packets; 0 for what the link carries in "
                    "the target delay, more than which no flow below it needs.",
                    &Swift::m_maxWindow,
                    {0.0, 0.0, 1e9})
            .Number("RetransmitResetThreshold",
                    "RETX_RESET_THRESHOLD: timeouts in a row that bring the least window.",
                    &Swift::m_resetThreshold,
                    {5, 1, 1'000'000})
            .State("WindowPackets", "cwnd; below one the flow is paced.", &Swift::m_window)
            .State("TargetDelayNs", "Target delay at the present window.", &Swift::m_targetDelayNs);
    return tid;
}

Picos
Swift::TargetDelay(const PathFacts& path, double packets) const
{
    // t = base_target + #hops * h + max(0, min(alpha / sqrt(cwnd) + beta, fs_range))
    // alpha = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd)), beta = -alpha / sqrt(fs_max_cwnd)
    double share = packets < m_flowScaleMax ? 1.0 : 0.0; // of fs_range
    if (packets < m_flowScaleMax && packets > m_flowScaleMin)
    {
        const double atMost = 1 / std::sqrt(m_flowScaleMin);
        const double atLeast = 1 / std::sqrt(m_flowScaleMax);
        share = (1 / std::sqrt(packets) - atLeast) / (atMost - atLeast);
    }
    const auto range = static_cast<double>(m_flowScaleRange.GetTimeStep());
    return std::max(m_baseTarget.GetTimeStep(), path.baseRtt) +
           static_cast<Picos>(path.hops.size()) * m_hopScale.GetTimeStep() +
           static_cast<Picos>(range * share);
}

double
Swift::LargestWindow(const PathFacts& path) const
{
    if (m_maxWindow > 0)
    {
        return std::max(m_maxWindow, m_minWindow);
    }
    const double seconds =
        static_cast<double>(TargetDelay(path, m_flowScaleMax)) / static_cast<double>(PS_PER_SECOND);
    return std::max(1.0, path.hostRateBps * seconds / (8.0 * path.packetBytes));
}

void
Swift::Begin(FlowState& flow, double packets, Picos now)
{
    const PathFacts& path = flow.Path();
    m_largestWindow = LargestWindow(path);
    m_rtt = path.baseRtt;
    m_lastDecrease = now - path.baseRtt; // a first cut is allowed at once
    Apply(flow, packets, now);
}

void
Swift::OnFlowStart(FlowState& flow)
{
    const PathFacts& path = flow.Path();
    // Line rate at first, as every controller on this network (docs/sources/published-simulator.md, "Sender").
    Begin(flow, std::max(1.0, path.bdpBytes / path.payloadBytes), flow.StartTime());
}

void
Swift::OnTakeOver(FlowState& flow, Picos now)
{
    flow.SetRate(flow.Path().hostRateBps);
    m_window.Set(flow.WindowBytes() / flow.Path().payloadBytes); // not a decrease
    Begin(flow, m_window, now);
}

void
Swift::OnAck(FlowState& flow, const AckSample& ack)
{
    m_timeouts = 0;
    m_rtt = ack.rtt;
    const Picos target = TargetDelay(flow.Path(), m_window);
    m_targetDelayNs.Set(static_cast<double>(target) / PS_PER_NS);
    double window = m_window;
    if (ack.rtt < target)
    {
        const double acked = static_cast<double>(ack.newlyAckedBytes) / flow.Path().payloadBytes;
        window += m_increase * acked / std::max(1.0, window); // Algorithm 1, lines 8 to 11
    }
    else if (CanDecrease(ack.now)) // lines 13 and 14
    {
        const double excess = static_cast<double>(ack.rtt - target) / static_cast<double>(ack.rtt);
        window *= std::max(1 - m_beta * excess, 1 - m_maxDecrease);
    }
    Apply(flow, window, ack.now);
}

void
Swift::OnNack(FlowState& flow, Picos now)
{
    m_timeouts = 0; // "On Fast Recovery", lines 22 to 25
    Apply(flow, CanDecrease(now) ? (1 - m_maxDecrease) * m_window.Get() : m_window.Get(), now);
}

void
Swift::OnTimeout(FlowState& flow, Picos now)
{
    ++m_timeouts; // "On Retransmit Timeout", lines 15 to 21
    if (m_timeouts >= m_resetThreshold)
    {
        Apply(flow, m_minWindow, now);
    }
    else
    {
        Apply(flow, CanDecrease(now) ? (1 - m_maxDecrease) * m_window.Get() : m_window.Get(), now);
    }
}

void
Swift::Apply(FlowState& flow, double packets, Picos now)
{
    const PathFacts& path = flow.Path();
    const double before = m_window;
    m_window.Set(std::clamp(packets, m_minWindow, m_largestWindow)); // line 26
    if (m_window.Get() < before)
    {
        m_lastDecrease = now; // lines 27 and 28
    }
    if (m_window.Get() >= 1)
    {
        flow.SetWindow(m_window.Get() * path.payloadBytes);
        return;
    }
    // line 30: one packet every rtt / cwnd
    flow.SetWindow(std::max(GetWindowFloor(flow), WindowOfOnePacketPer(path, m_window, m_rtt)));
}

} // namespace ns3::env::rdma
