// SPDX-License-Identifier: GPL-2.0-or-later
// What would MPCC do without constraints? The finite-horizon regulator in closed form.
#ifndef RDMA_MPCC_LQR_H
#define RDMA_MPCC_LQR_H

#include <span>

namespace ns3::rdma
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
    double SoftBound(int step) const
    {
        const double reachable = q + step * b * lower;
        return reachable > queueBound ? reachable : queueBound;
    }
};

/**
 * Gains K_0 ... K_{P-1} of the unconstrained problem min sum_{k=1..P} W_Q q_k^2 + sum_{k=0..P-1} W_R u_k^2,
 * q_{k+1} = q_k + b u_k (Zheng 2024, eqs. 4.5, 4.9): the optimal inputs are u_k = -K_k q_k.
 */
void LqrGains(double b, double weightQueue, double weightWindow, std::span<double> gains);

/// The regulator's first move, kept inside the first step's constraints.
double LqrMove(const MpccModel& model, double firstGain);

/**
 * Writes the regulator's moves; true where the whole sequence satisfies every constraint of the model.
 * It is then the QP's solution: the QP is strictly convex and its constraints change nothing.
 */
bool LqrSequence(const MpccModel& model, std::span<const double> gains, std::span<double> moves);

} // namespace ns3::rdma

#endif // RDMA_MPCC_LQR_H
