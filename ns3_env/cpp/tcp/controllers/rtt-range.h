// SPDX-License-Identifier: GPL-2.0-or-later
// Propagation and bottleneck RTT of a path (Lynn et al. 2020, eqs. 3 to 5).
#ifndef NS3_ENV_TCP_CONTROLLERS_RTT_RANGE_H
#define NS3_ENV_TCP_CONTROLLERS_RTT_RANGE_H

namespace ns3::env::tcp
{

/**
 * b_e: what is left after `dtNs` of an extreme that goes back to the mean (Lynn et al. 2020, eq. 3).
 *
 * The paper's step x + (mean - x) dt / tau is the first order of its continuous form, which is what is
 * computed: 37 % of the distance is left after tau however many steps led there, and a step longer than tau
 * does not overshoot.
 */
double BackOff(double extremeNs, double meanNs, double dtNs, double decayNs);

/// The least and the largest RTT of late, and the running average between them.
class RttRange
{
  public:
    /// `decayRtts`: tau_d of eq. 3, in running averages; `smoothing`: alpha of the running average.
    RttRange(double decayRtts, double smoothing);

    /// The first RTT of a flow is all three.
    void Start(double rttNs);

    /// Eqs. 4 and 5: an RTT, `dtNs` after the last one. What backs off goes to the mean as Smooth() left it.
    void Observe(double rttNs, double dtNs);

    /// The running average takes the RTT of a step: mean + alpha (l - mean).
    void Smooth(double rttNs);

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

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_RTT_RANGE_H
