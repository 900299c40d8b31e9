// SPDX-License-Identifier: GPL-2.0-or-later
// Compensated sum: Neumaier's form of Kahan's summation.
#ifndef NS3_ENV_TCP_CONTROLLERS_COMPENSATED_SUM_H
#define NS3_ENV_TCP_CONTROLLERS_COMPENSATED_SUM_H

#include <cmath>

namespace ns3::env::tcp
{

/// A sum whose error does not grow with the number of terms: what each addition rounds off is kept beside it.
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

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_COMPENSATED_SUM_H
