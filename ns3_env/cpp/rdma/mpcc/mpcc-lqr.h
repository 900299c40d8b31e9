// SPDX-License-Identifier: GPL-2.0-or-later
// Finite-horizon regulator inside MPCC's constraints, with a proof where it solves the QP.
#ifndef NS3_ENV_RDMA_MPCC_MPCC_LQR_H
#define NS3_ENV_RDMA_MPCC_MPCC_LQR_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/// MPCC's model and constraints at one decision, in units of BDP_max.
struct MpccModel
{
    double q{0}; ///< predicted queue, Q-bar (Zheng 2024, eq. 3.7), at least 0
    double b{0}; ///< B of eq. 3.4: queue gained per step and unit of window above the fair share
    double fairShare{0};  ///< W*, in (0, 1]
    double lower{0};      ///< least input, -W* (eq. 4.2)
    double upper{0};      ///< largest input, 1 - W* (eq. 4.2)
    double queueBound{0}; ///< largest queue, N - 1 (eq. 4.3), before softening

    /// Largest queue allowed after `step` inputs: the bound, or as low as the inputs can bring it.
    double SoftBound(int step) const { return std::max(q + step * b * lower, queueBound); }

    /// Largest input that brings a queue of `queue` under the bound in one step, or the least input.
    double InputUnderBound(double queue) const
    {
        return std::max(lower, std::min(upper, (queueBound - queue) / b));
    }
};

/// What is proven of the regulator's moves.
enum class LqrProof : uint8_t
{
    None,          ///< nothing: ask qpOASES
    Unconstrained, ///< the QP's optimum, and no constraint touches it
    Saturated,     ///< the QP's optimum, with constraints that hold it back
};

/**
 * The regulator of min sum_{k=1..P} W_Q q_k^2 + sum_{k=0..P-1} W_R u_k^2, q_{k+1} = q_k + b u_k (Zheng 2024,
 * eqs. 4.5, 4.9), whose unconstrained inputs are u_k = -K_k q_k, with every input kept inside its constraints.
 *
 * That is the constrained optimum, too: a constraint on later inputs only makes a queue dearer, so the best
 * input now is never above -K_k q_k, and where that is out of reach it is the least input
 * (docs/decisions/0005-mpcc.md). Solve() relies on no theorem: it checks the optimality conditions of each
 * sequence (Karush, Kuhn, Tucker), which for a strictly convex QP are sufficient.
 */
class Regulator
{
  public:
    Regulator(int horizon, double weightQueue, double weightWindow);

    /// Writes the moves for this model and returns what is proven of them.
    LqrProof Solve(const MpccModel& model);

    const std::vector<double>& Gains() const { return m_gains; }
    const std::vector<double>& Moves() const { return m_moves; }

  private:
    void UpdateGains(double b);

    double m_weightQueue;
    double m_weightWindow;
    double m_b{-1.0}; ///< for which the gains hold
    std::vector<double> m_gains;
    std::vector<double> m_remainders; ///< 1 - b K_k: what a free move leaves of a queue
    std::vector<double> m_moves;
    std::vector<double> m_tops;   ///< largest input of each step
    std::vector<double> m_queues; ///< q_1 ... q_P
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_MPCC_MPCC_LQR_H
