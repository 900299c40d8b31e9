// SPDX-License-Identifier: GPL-2.0-or-later
// RTT-driven MPC (Lynn et al. 2020) as a function of plain numbers: estimates, optimum, probes.
#pragma once

#include <cmath>
#include <cstdint>

namespace ns3::env::tcp
{

/// Weights of the cost's terms; c3 = 1 - c1 - c2 weighs changes of the rate.
struct RttMpcWeights
{
    double target;    ///< c1: distance of the RTT from its target
    double variance;  ///< c2: distance of the RTT from its running average
    double smoothing; ///< alpha of that average
};

/// A step of the model, by the paper's names.
struct RttMpcStep
{
    double rateBps;       ///< r(n)
    double rttNs;         ///< l(n)
    double meanNs;        ///< l-bar(n), before l(n) is part of it
    double targetNs;      ///< l_t
    double leastNs;       ///< l_P
    double dtNs;          ///< dt(n)
    double bottleneckBps; ///< r_B
};

/// l(n+1) of eq. 2, in `leastNs` .. `largestNs`: the RTT after dt at the rate r.
double PredictRtt(const RttMpcStep& step, double largestNs);

/// r(n+1) of eqs. 7 and 8, in bits per second: without bounds, it may be negative.
double OptimalRate(const RttMpcWeights& weights, const RttMpcStep& step);

/// b_e: an extreme after `dtNs` of its return to the mean (Lynn et al. 2020, eq. 3).
///
/// The paper's step x + (mean - x) dt / tau is the first order of its continuous form, which is what is
/// computed: 37 % of the distance is left after tau however many steps led there, and a step longer than tau
/// does not overshoot.
double BackOff(double extremeNs, double meanNs, double dtNs, double decayNs);

/// The smallest and the largest recent RTT, and the running average between them.
class RttRange
{
  public:
    /// `decayRtts`: tau_d of eq. 3, in running averages; `smoothing`: alpha of the running average.
    RttRange(double decayRtts, double smoothing);

    /// The first RTT of a flow is all three.
    void Start(double rttNs) { m_minNs = m_maxNs = m_meanNs = rttNs; }

    /// Eqs. 4 and 5: an RTT, `dtNs` after the last one. A back-off targets the mean as Smooth() left it.
    void Observe(double rttNs, double dtNs);

    /// Adds the RTT of a step to the running average: mean + alpha (l - mean).
    void Smooth(double rttNs) { m_meanNs += m_smoothing * (rttNs - m_meanNs); }

    double MinNs() const { return m_minNs; }   ///< l_P
    double MaxNs() const { return m_maxNs; }   ///< l_B
    double MeanNs() const { return m_meanNs; } ///< l-bar

  private:
    double m_decayRtts;
    double m_smoothing;
    double m_minNs{0};
    double m_maxNs{0};
    double m_meanNs{0};
};

/// Neumaier's form of Kahan's summation: the rounding error of each addition is kept separately, so that a sum's error
/// does not grow with the number of terms.
class CompensatedSum
{
  public:
    void Add(double term)
    {
        const double sum = m_sum + term;
        m_lost += std::abs(m_sum) >= std::abs(term) ? (m_sum - sum) + term : (term - sum) + m_sum;
        m_sum = sum;
    }

    /// Discounts the sum so far.
    void Scale(double factor)
    {
        m_sum *= factor;
        m_lost *= factor;
    }

    double Value() const { return m_sum + m_lost; }

  private:
    double m_sum{0};
    double m_lost{0};
};

/// Eq. 6: r_B(n) = sum of r(k) dt(k), over l(n) - l(0) + t(n) - t(0).
///
/// Both sums are compensated (CompensatedSum): after 1e7 ACKs they differ from sums in long double by no more than their last digits. With a
/// memory, older terms of both fade together (a factor exp(-dt / memory) each step), which keeps the ratio's
/// meaning: eq. 6 over the last `memory`.
class BottleneckRate
{
  public:
    /// `memoryRtts`: in RTTs; 0 for all that was sent, as eq. 6 has it.
    explicit BottleneckRate(double memoryRtts);

    /// A new origin t(0), l(0); the estimate stays until the next Add().
    void Start(double rttNs, double rateBps);

    /// `rateBps` was sent at for `dtNs`; the RTT is now `rttNs`.
    void Add(double rateBps, double dtNs, double rttNs);

    /// The last estimate that was finite and positive, in bits per second.
    double Bps() const { return m_bps; }

  private:
    double m_memoryRtts;
    CompensatedSum m_sent;   ///< sum of r dt, in bit/s times ns
    CompensatedSum m_timeNs; ///< sum of dt + dl
    double m_lastRttNs{0};
    double m_bps{0};
};

struct RttMpcSettings
{
    double weightTarget{0.05};  ///< c1
    double weightVariance{0.6}; ///< c2
    double smoothing{0.125};    ///< alpha
    double targetShare{0.5};    ///< position of l_t between l_P (0) and l_B (1)
    double decayRtts{1000};     ///< tau_d, in running averages of the RTT
    double stepRtts{1};         ///< from one optimum to the next, in RTTs; 0: at every ACK
    double memoryRtts{0};       ///< of r_B, in RTTs; 0: all that was sent, as eq. 6 has it
    double probeRtts{200};      ///< between probes, in running averages of the RTT; 0: none
    double probeGain{0.5};      ///< a probe sends at 1 + gain or 1 - gain times the rate
    double initialBps{10e6};    ///< r(0)
    double leastBps{1e6};       ///< the rate never falls below
    double largestBps{1e12};    ///< the flow's cap
};

/// Phase of a flow's control.
enum class RttMpcPhase : uint8_t
{
    Start,     ///< grows until the RTT does
    Steady,    ///< follows the optimum
    ProbeDown, ///< empties the queue to see l_P
    ProbeUp,   ///< fills the queue to see l_B
    Watch,     ///< has filled the queue, and waits for the RTT to show it
};

struct RttMpcCounters
{
    uint64_t acks{0};    ///< RTTs taken
    uint64_t refused{0}; ///< RTTs that were not positive
    uint64_t optima{0};  ///< rates by eq. 7
    uint64_t losses{0};
    uint64_t probesDown{0};
    uint64_t probesUp{0};
};

/// One flow's controller: time and RTT of each ACK in, a pacing rate out, which is finite and between the least and the largest
/// rate for any numbers in any order. A clock that stops or runs backwards is a step of length zero.
///
/// Eqs. 3 to 6 use every ACK. Eq. 7 is evaluated once per RTT, when the last answer's effect shows: at every ACK, it
/// would repeat an answer without effect yet, a whole RTT long, and the rate would swing from bound to bound.
///
/// Start, the length of a probe and the reaction to one without a result are this project's (docs/sources/tcp.md).
class RttMpcControl
{
  public:
    /// Throws std::invalid_argument, with the valid values, if settings contradict each other.
    explicit RttMpcControl(const RttMpcSettings& settings);

    /// The rate in bit/s from now on. A `rttNs` below 1 is no RTT: it is only counted.
    double OnAck(int64_t nowNs, int64_t rttNs);

    /// Handles a loss: it ends any increase of the rate, and is answered by a probe of l_P (Lynn et al. 2020, sec.
    /// 4.2).
    double OnLoss();

    /// Resumes after a time without data in flight: eq. 6 excludes the time since the last ACK.
    void Resume(int64_t nowNs) { m_nowNs = nowNs; }

    double RateBps() const { return m_rateBps; }                ///< r(n)
    double BottleneckBps() const { return m_bottleneck.Bps(); } ///< r_B
    double TargetNs() const;                                    ///< l_t
    const RttRange& Range() const { return m_range; }           ///< l_P, l_B, the running average
    RttMpcPhase Phase() const { return m_phase; }
    const RttMpcCounters& Counters() const { return m_counters; }

  private:
    void StartStep();
    /// Leaves Start. Its RTT is the effect of the rate one step before: r_B is that rate over 1 + slope (eq. 1), and
    /// no less than the rate another step before, which had no effect.
    void LeaveStart();
    void SteadyStep();
    /// Continues at `bps`, from which r_B is estimated anew: eq. 1 did not hold while the queue was empty.
    void GoOn(double bps);
    /// A probe at `factor` times the rate, for as long as eq. 2 needs for `distanceNs` of RTT, plus one RTT.
    void Probe(RttMpcPhase phase, double factor, double distanceNs);
    void ProbeDown();
    void EndProbe();
    void SetRate(double bps);

    RttMpcSettings m_settings;
    RttRange m_range;
    BottleneckRate m_bottleneck;
    RttMpcCounters m_counters;
    RttMpcPhase m_phase{RttMpcPhase::Start};
    double m_rateBps;
    double m_rttNs{0};        ///< l(n)
    int64_t m_nowNs{0};       ///< time of the last ACK
    double m_sinceStepNs{0};  ///< dt(n)
    double m_sinceProbeNs{0}; ///< time in phase Steady
    double m_probeLeftNs{0};  ///< time left of the present probe
    double m_probeRttNs{0};   ///< the RTT when it began
    double m_expectedNs{0};   ///< rise of the RTT by eq. 2
    double m_beforeBps{0}; ///< the rate before the probe; in Start, the one that the RTT now shows
    double m_beforeRttNs{0}; ///< in Start, the RTT a step before
    bool m_upNext{false};    ///< whether the next probe is one of l_B
};

} // namespace ns3::env::tcp
