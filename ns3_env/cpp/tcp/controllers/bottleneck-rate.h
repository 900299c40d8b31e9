// SPDX-License-Identifier: GPL-2.0-or-later
// Bottleneck rate r_B (Lynn et al. 2020, eq. 6), from what was sent and how the RTT moved.
#ifndef NS3_ENV_TCP_CONTROLLERS_BOTTLENECK_RATE_H
#define NS3_ENV_TCP_CONTROLLERS_BOTTLENECK_RATE_H

#include <cmath>
#include <cstdint>

namespace ns3::env::tcp
{

/// Neumaier's form of Kahan's summation: a sum whose error does not grow with the number of terms: what each addition rounds off is kept beside it.
class CompensatedSum
{
  public:
    void Add(double term)
    {
        const double sum = m_sum + term;
        m_lost += std::abs(m_sum) >= std::abs(term) ? (m_sum - sum) + term : (term - sum) + m_sum;
        m_sum = sum;
    }

    /// Forgets a share of what was added so far.
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

/**
 * Eq. 6: r_B(n) = sum of r(k) dt(k), over l(n) - l(0) + t(n) - t(0).
 *
 * Both sums are compensated (CompensatedSum): after 1e7 ACKs they differ from sums in long double by no more than their last digits. With a
 * memory, older terms of both fade together (a factor exp(-dt / memory) each step), which keeps the ratio's
 * meaning: eq. 6 over the last `memory`.
 */
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

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_BOTTLENECK_RATE_H
