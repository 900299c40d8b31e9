// SPDX-License-Identifier: GPL-2.0-or-later
// NSCC controller, by the delay and the mark of each packet, for flows spread over many paths.
#include "nscc.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Nscc);

namespace
{
/// BDP in bytes of the network of the published constants (sec. 3.6.13.3): 100 Gb/s, 12 us.
constexpr double REFERENCE_BDP = 150e3;
constexpr double REFERENCE_RTT = 12e6; // ps
/// Up to this share of the base RTT a delay counts as zero: a packet or two ahead in one queue.
constexpr double CLEAR = 1.0 / 32;
} // namespace

TypeId
Nscc::GetTypeId()
{
    static TypeId tid =
        Declaration<Nscc>("rdma::nscc")
            .Number(
                "TargetDelay",
                "target_qdelay in base RTTs: 1 where switches trim nothing, 0.75 where they do.",
                &Nscc::m_targetBaseRtts,
                {1.0, 1e-3, 1e3})
            .Number("MaxWindow",
                    "Largest and first window in BDPs of the path.",
                    &Nscc::m_maxBdps,
                    {1.5, 0.1, 1e3})
            .Number("ProportionalIncrease",
                    "alpha in packets: what an empty network adds in a round trip on the "
                    "specification's network of 100 Gb/s and 12 us.",
                    &Nscc::m_proportional,
                    {4.0, 0.0, 1e3})
            .Number(
                "FairIncrease",
                "fi in packets: what a round trip above the target without marks adds, likewise.",
                &Nscc::m_fair,
                {5.0, 0.0, 1e3})
            .Number("FastIncrease",
                    "fi_scale: bytes added per byte that arrived, after a window that met no "
                    "queue; likewise.",
                    &Nscc::m_fast,
                    {0.25, 0.0, 1e3})
            .Number("PeriodicIncrease",
                    "eta in packets: added once per round trip whatever happens, likewise.",
                    &Nscc::m_eta,
                    {0.15, 0.0, 1e3})
            .Number("Gamma",
                    "Strength of a decrease by the average delay's excess.",
                    &Nscc::m_gamma,
                    {0.8, 0.0, 1.0})
            .Number("MaxDecrease",
                    "The largest part of the window that one decrease takes.",
                    &Nscc::m_maxDecrease,
                    {0.5, 0.0, 1.0})
            .Number("QuickAdaptDelay",
                    "qa_threshold: targets of delay from which the window falls to what arrived.",
                    &Nscc::m_adaptTargets,
                    {4.0, 0.0, 1e9})
            .Number("QuickAdaptShare",
                    "Of the largest window: where more arrives, it does not (2 to the -qa_gate).",
                    &Nscc::m_adaptShare,
                    {0.125, 0.0, 1.0})
            .Number("AdjustPackets",
                    "Packets after which increases take effect, or a round trip before that.",
                    &Nscc::m_adjustPackets,
                    {8, 1, 1'000'000})
            .State("AverageDelayNs",
                   "Average of the delay beyond the base RTT over the last one.",
                   &Nscc::m_averageDelayNs);
    return tid;
}

EcnConfig
Nscc::GetEcnConfig() const
{
    // 20 and 80 % of a queue of a BDP (Bonato 2024), at the specification's BDP of 150 kB
    return {.enabled = true,
            .kminBytes = 30e3,
            .kmaxBytes = 120e3,
            .pmax = 1.0,
            .atRateBps = 100e9};
}

void
Nscc::OnFlowStart(FlowState& flow)
{
    const PathFacts& path = flow.Path();
    m_payload = path.payloadBytes;
    m_scale = path.bdpBytes / REFERENCE_BDP; // scaling_a
    m_target = m_targetBaseRtts * static_cast<double>(path.baseRtt);
    m_largest = std::max(m_maxBdps * path.bdpBytes, m_payload);
    m_window = m_largest;
    const Picos now = flow.StartTime();
    m_lastSample = now;
    m_lastAdjust = now;
    m_lastDecrease = now;
    m_periodEnd = now + path.baseRtt + static_cast<Picos>(m_target);
    Apply(flow);
}

double
Nscc::Arrived(const PathFacts& path, const AckSample& ack)
{
    // Each ACK answers a packet. One that is out of order adds nothing to the sequence now, and the ACK that
    // fills the gap adds it again.
    if (ack.newlyAckedBytes == 0)
    {
        m_early += path.payloadBytes;
        return path.payloadBytes;
    }
    const auto newly = static_cast<double>(ack.newlyAckedBytes);
    const double counted = std::min(m_early, newly - std::min<double>(newly, path.payloadBytes));
    m_early -= counted;
    return newly - counted;
}

void
Nscc::OnAck(FlowState& flow, const AckSample& ack)
{
    const PathFacts& path = flow.Path();
    const double delay = std::max(0.0, static_cast<double>(ack.rtt - path.baseRtt));
    const double bytes = Arrived(path, ack);
    m_achieved += bytes;
    m_ignore -= std::min(bytes, m_ignore);
    Average(path, delay, ack.now);
    if (!AdaptQuickly(flow, ack.ecnMarked, delay, ack.now))
    {
        m_sinceAdjust += bytes;
        if (!ack.ecnMarked)
        {
            Increase(bytes, delay);
        }
        else if (delay >= m_target) // a mark below the target concerns one path: the window stays
        {
            Decrease(path, ack.now);
        }
        AddIncreases(path, ack.now);
    }
    Apply(flow);
}

void
Nscc::Average(const PathFacts& path, double delay, Picos now)
{
    // over the last round trip (sec. 3.6.13.6): a sample's weight is the time since the one before it
    const double weight =
        std::min(1.0, static_cast<double>(now - m_lastSample) / static_cast<double>(path.baseRtt));
    m_averageDelayNs.Set((1 - weight) * m_averageDelayNs.Get() + weight * delay / PS_PER_NS);
    m_lastSample = now;
}

bool
Nscc::AdaptQuickly(const FlowState& flow, bool marked, double delay, Picos now)
{
    bool decided = m_ignore > 0 && marked; // by a queue that the window already accounts for
    if (!decided && now >= m_periodEnd)
    {
        const bool congested = m_lost || delay > m_adaptTargets * m_target;
        if (congested && m_achieved < m_adaptShare * m_largest)
        {
            m_window = std::max(m_achieved, m_payload);
            m_ignore = static_cast<double>(flow.InflightBytes());
            m_lost = false;
            ++m_adaptations;
            decided = true;
        }
        m_achieved = 0;
        m_periodEnd = now + flow.Path().baseRtt + static_cast<Picos>(m_target);
    }
    if (decided)
    {
        m_increase = 0;
        m_sinceAdjust = 0;
    }
    return decided;
}

void
Nscc::Increase(double bytes, double delay)
{
    if (delay >= m_target)
    {
        m_increase += m_fair * m_payload * m_scale * bytes; // the same for every window: fair
        return;
    }
    const bool clear = delay < CLEAR * m_target / m_targetBaseRtts;
    m_clear = clear ? m_clear + bytes : 0;
    m_fastIncrease = clear && (m_fastIncrease || m_clear > m_window);
    if (m_fastIncrease)
    {
        m_window = std::min(m_window + m_fast * m_scale * bytes, m_largest);
        return;
    }
    // alpha (target - delay), with alpha in packets times scaling_a scaling_b over the target
    const double scale = m_scale * m_target / REFERENCE_RTT;
    m_increase += m_proportional * m_payload * scale * bytes * (1 - delay / m_target);
}

void
Nscc::Decrease(const PathFacts& path, Picos now)
{
    m_fastIncrease = false;
    m_clear = 0;
    const double average = AverageDelay();
    if (average > m_target && now - m_lastDecrease > path.baseRtt)
    {
        const double kept = 1 - m_gamma * (average - m_target) / average;
        m_window *= std::max(kept, 1 - m_maxDecrease);
        m_lastDecrease = now;
        ++m_decreases;
    }
}

void
Nscc::AddIncreases(const PathFacts& path, Picos now)
{
    const bool periodic = now - m_lastAdjust >= path.baseRtt;
    if (!periodic && m_sinceAdjust <= m_adjustPackets * m_payload)
    {
        return;
    }
    m_window += m_increase / m_window;
    if (periodic)
    {
        m_window += m_eta * m_payload * m_scale;
        m_lastAdjust = now;
    }
    m_increase = 0;
    m_sinceAdjust = 0;
}

void
Nscc::OnLoss(FlowState& flow)
{
    m_lost = true; // the window falls to the bytes that arrived, at the end of the period
    m_window -= m_payload;
    Apply(flow);
}

std::vector<std::pair<std::string, double>>
Nscc::GetCounters() const
{
    return {{"nscc_decreases", static_cast<double>(m_decreases)},
            {"nscc_quick_adaptations", static_cast<double>(m_adaptations)}};
}

void
Nscc::Apply(FlowState& flow)
{
    m_window = std::clamp(m_window, m_payload, m_largest);
    flow.SetWindow(m_window);
}

} // namespace ns3::env::rdma
