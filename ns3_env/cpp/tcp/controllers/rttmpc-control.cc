// SPDX-License-Identifier: GPL-2.0-or-later
// RTT-driven MPC (Lynn et al. 2020) as a function of plain numbers: estimates, optimum, probes.
#include "rttmpc-control.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace ns3::env::tcp
{

double
PredictRtt(const RttMpcStep& step, double largestNs)
{
    const double rtt =
        step.rttNs + (step.rateBps - step.bottleneckBps) / step.bottleneckBps * step.dtNs;
    return std::clamp(rtt, step.leastNs, std::max(step.leastNs, largestNs));
}

double
OptimalRate(const RttMpcWeights& weights, const RttMpcStep& step)
{
    const double ofRate = 1 - weights.target - weights.variance; // c3
    const double ofVariance = weights.smoothing * weights.variance;
    const double ofRtt = ofVariance + weights.target;
    const double lambda = ofRtt * (step.rttNs - step.dtNs) - weights.target * step.targetNs -
                          ofVariance * step.meanNs; // eq. 8
    const double leastSquared = step.leastNs * step.leastNs;
    return (ofRate * leastSquared * step.rateBps - step.dtNs * step.bottleneckBps * lambda) /
           (ofRate * leastSquared + step.dtNs * step.dtNs * ofRtt); // eq. 7
}

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
RttRange::Observe(double rttNs, double dtNs)
{
    const double decayNs = m_decayRtts * m_meanNs;
    m_minNs = std::min(rttNs, BackOff(m_minNs, m_meanNs, dtNs, decayNs)); // eq. 4
    m_maxNs = std::max(rttNs, BackOff(m_maxNs, m_meanNs, dtNs, decayNs)); // eq. 5
}

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
    if (std::isfinite(bps) && bps > 0) // no or negative time has passed: no estimate
    {
        m_bps = bps;
    }
}

namespace
{

/// A probe of l_B that raises the RTT by less than this share of eq. 2's prediction has not filled the bottleneck.
constexpr double FILLED = 0.5;

/// In Start, the RTT counts as risen if it rose by this share of the probes' gain, of an RTT. Noise should stay below.
constexpr double ROSE = 0.25;

void
Require(bool holds, const char* what)
{
    if (!holds)
    {
        throw std::invalid_argument(std::string("rttmpc: ") + what);
    }
}

} // namespace

RttMpcControl::RttMpcControl(const RttMpcSettings& settings)
    : m_settings(settings),
      m_range(settings.decayRtts, settings.smoothing),
      m_bottleneck(settings.memoryRtts)
{
    const RttMpcSettings& s = m_settings;
    Require(s.weightTarget > 0 && s.weightVariance >= 0 && s.weightTarget + s.weightVariance < 1,
            "c1 must be positive, c2 not negative, and c3 = 1 - c1 - c2 positive");
    Require(s.smoothing > 0 && s.smoothing <= 1, "alpha lies above 0 and is at most 1");
    Require(s.targetShare >= 0 && s.targetShare <= 1, "the target's share lies from 0 to 1");
    Require(s.decayRtts > 0, "tau_d must be positive");
    Require(s.stepRtts >= 0 && s.memoryRtts >= 0 && s.probeRtts >= 0,
            "steps, memory and the time between probes must not be negative");
    Require(s.probeGain > 0 && s.probeGain < 1, "the probes' gain lies between 0 and 1");
    Require(s.leastBps > 0 && s.leastBps <= s.largestBps && std::isfinite(s.largestBps) &&
                std::isfinite(s.initialBps),
            "rates must be finite, the least one positive and no more than the largest");
    SetRate(s.initialBps);
}

double
RttMpcControl::TargetNs() const
{
    return m_range.MinNs() + m_settings.targetShare * (m_range.MaxNs() - m_range.MinNs());
}

double
RttMpcControl::OnAck(int64_t nowNs, int64_t rttNs)
{
    if (rttNs <= 0)
    {
        ++m_counters.refused;
        return m_rateBps;
    }
    m_rttNs = static_cast<double>(rttNs);
    const double dtNs = std::max(0.0, static_cast<double>(nowNs) - static_cast<double>(m_nowNs));
    m_nowNs = nowNs;
    if (m_counters.acks++ == 0)
    {
        m_range.Start(m_rttNs);
        m_bottleneck.Start(m_rttNs, m_rateBps);
        m_beforeBps = m_rateBps;
        m_beforeRttNs = m_rttNs;
        return m_rateBps;
    }
    m_range.Observe(m_rttNs, dtNs);
    m_bottleneck.Add(m_rateBps, dtNs, m_rttNs);
    m_sinceStepNs += dtNs;
    if (m_phase == RttMpcPhase::ProbeDown || m_phase == RttMpcPhase::ProbeUp)
    {
        m_probeLeftNs -= dtNs;
        if (m_probeLeftNs <= 0)
        {
            EndProbe();
        }
        return m_rateBps;
    }
    if (m_phase == RttMpcPhase::Start &&
        m_rttNs - m_beforeRttNs > ROSE * m_settings.probeGain * m_rttNs)
    {
        LeaveStart();
    }
    const bool steady = m_phase == RttMpcPhase::Steady;
    m_sinceProbeNs += steady ? dtNs : 0;
    if (m_sinceStepNs > 0 && m_sinceStepNs >= (steady ? m_settings.stepRtts : 1) * m_rttNs)
    {
        if (m_phase == RttMpcPhase::Watch)
        {
            const bool filled = m_rttNs - m_probeRttNs >= FILLED * m_expectedNs;
            m_phase = filled ? RttMpcPhase::Steady : RttMpcPhase::Start;
            m_beforeBps = m_rateBps;
        }
        else
        {
            steady ? SteadyStep() : StartStep();
        }
        m_range.Smooth(m_rttNs);
        m_beforeRttNs = m_rttNs;
        m_sinceStepNs = 0;
    }
    return m_rateBps;
}

void
RttMpcControl::StartStep()
{
    if (m_rateBps >= m_settings.largestBps)
    {
        GoOn(m_rateBps);
        return;
    }
    m_beforeBps = m_rateBps;
    SetRate(m_rateBps * (1 + m_settings.probeGain));
}

void
RttMpcControl::LeaveStart()
{
    const double riseNs = std::max(0.0, m_rttNs - m_beforeRttNs);
    const double slope = m_sinceStepNs > 0 ? riseNs / m_sinceStepNs : 0;
    GoOn(m_beforeBps / (1 + std::min(slope, m_settings.probeGain)));
}

void
RttMpcControl::GoOn(double bps)
{
    m_phase = RttMpcPhase::Steady;
    m_sinceProbeNs = 0;
    SetRate(bps);
    m_bottleneck.Start(m_rttNs, m_rateBps);
}

void
RttMpcControl::SteadyStep()
{
    if (m_settings.probeRtts > 0 && m_sinceProbeNs >= m_settings.probeRtts * m_range.MeanNs())
    {
        const bool up = m_upNext && m_rateBps < m_settings.largestBps; // no more than its cap
        m_upNext = !m_upNext;
        if (up)
        {
            ++m_counters.probesUp;
            Probe(RttMpcPhase::ProbeUp, 1 + m_settings.probeGain, m_range.MaxNs() - m_rttNs);
        }
        else
        {
            ProbeDown();
        }
        return;
    }
    ++m_counters.optima;
    SetRate(OptimalRate({.target = m_settings.weightTarget,
                         .variance = m_settings.weightVariance,
                         .smoothing = m_settings.smoothing},
                        {.rateBps = m_rateBps,
                         .rttNs = m_rttNs,
                         .meanNs = m_range.MeanNs(),
                         .targetNs = TargetNs(),
                         .leastNs = m_range.MinNs(),
                         .dtNs = m_sinceStepNs,
                         .bottleneckBps = m_bottleneck.Bps()}));
}

double
RttMpcControl::OnLoss()
{
    ++m_counters.losses;
    if (m_counters.acks == 0 || m_phase == RttMpcPhase::ProbeDown)
    {
        return m_rateBps;
    }
    if (m_phase == RttMpcPhase::Start)
    {
        LeaveStart();
    }
    else if (m_phase == RttMpcPhase::ProbeUp)
    {
        SetRate(m_beforeBps);
    }
    ProbeDown();
    return m_rateBps;
}

void
RttMpcControl::ProbeDown()
{
    ++m_counters.probesDown;
    SetRate(std::min(m_rateBps,
                     m_bottleneck.Bps())); // a share of more than r_B may not empty the queue
    Probe(RttMpcPhase::ProbeDown, 1 - m_settings.probeGain, m_rttNs - m_range.MinNs());
}

void
RttMpcControl::Probe(RttMpcPhase phase, double factor, double distanceNs)
{
    m_phase = phase;
    m_beforeBps = m_rateBps;
    m_probeRttNs = m_rttNs;
    // Eq. 2: at (1 + gain) r_B the RTT grows by gain each second; the effect shows an RTT later.
    m_probeLeftNs = std::max(0.0, distanceNs) / m_settings.probeGain + m_rttNs;
    m_expectedNs = m_settings.probeGain * m_probeLeftNs;
    SetRate(m_rateBps * factor);
}

void
RttMpcControl::EndProbe()
{
    m_phase = m_phase == RttMpcPhase::ProbeUp ? RttMpcPhase::Watch : RttMpcPhase::Steady;
    m_sinceProbeNs = 0;
    m_sinceStepNs = 0;
    SetRate(m_beforeBps);
}

void
RttMpcControl::SetRate(double bps)
{
    if (std::isfinite(bps))
    {
        m_rateBps = std::clamp(bps, m_settings.leastBps, m_settings.largestBps);
    }
}

} // namespace ns3::env::tcp
