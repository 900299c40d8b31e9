// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC's QP (Zheng 2024, sec. 4.5.2) for qpOASES, normalised and hot-started.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace qpOASES
{

class SQProblem;

} // namespace qpOASES

namespace ns3::env::rdma
{

/// Weights of the cost: sum of W_Q (q_k - r)^2 + W_R u_k^2 (Zheng 2024, eq. 4.4), and optional terms.
struct MpccCost
{
    double weightQueue{1.0};   ///< W_Q
    double weightWindow{10.0}; ///< W_R (1:10 in the thesis's experiments)
    /// r_x of eq. 4.4 in BDPs, the desired queue, as far as eq. 4.3 allows; eq. 4.5 has 0.
    double queueReference{0.0};
    double terminalWeight{
        1.0}; ///< P_t of eq. 4.4 over W_Q; eq. 4.5 leaves it out: the last state counts as every other
    double weightChange{0.0}; ///< of (u_k - u_{k-1})^2, not in the thesis
};

/// MPCC's model and constraints at one decision, in units of BDP_max.
struct MpccModel
{
    double q{0}; ///< predicted queue, Q-bar (Zheng 2024, eq. 3.7), at least 0
    double b{0}; ///< B of eq. 3.4: queue gained per step and unit of window above the fair share
    double fairShare{0};  ///< W*, in (0, 1]
    double lower{0};      ///< smallest input, -W* (eq. 4.2)
    double upper{0};      ///< largest input, 1 - W* (eq. 4.2)
    double queueBound{0}; ///< largest queue, N - 1 (eq. 4.3), before softening
    double reference{0};  ///< the queue that is wanted, at most the bound
    double previous{0};   ///< the input in force, u_{-1}

    /// Largest queue allowed after `step` inputs: the bound, or as low as the inputs can bring it.
    double SoftBound(int step) const { return std::max(q + step * b * lower, queueBound); }

    /// Largest input that brings a queue of `queue` under the bound in one step, or the smallest input.
    double InputUnderBound(double queue) const
    {
        return std::max(lower, std::min(upper, (queueBound - queue) / b));
    }
};

/// Optimality proof of the regulator's moves.
enum class LqrProof : uint8_t
{
    None,          ///< nothing: use qpOASES
    Unconstrained, ///< the QP's optimum, and no constraint touches it
    Saturated,     ///< the QP's optimum, with active constraints
};

/// The regulator of min sum_{k=1..P} W_Q (q_k - r)^2 + sum_{k=0..P-1} W_R u_k^2, q_{k+1} = q_k + b u_k (Zheng
/// 2024, eqs. 4.4, 4.9), whose unconstrained inputs are u_k = -K_k (q_k - r), with every input kept inside its
/// constraints. It has no cost of changes.
///
/// That is also the constrained optimum: a constraint on later inputs only makes a queue costlier, so the best input now
/// is never above -K_k q_k, and if that is out of reach it is the smallest input (docs/decisions/0003-mpcc.md). Solve()
/// relies on no theorem: it checks the optimality conditions of each sequence (Karush, Kuhn, Tucker), which for a
/// strictly convex QP are sufficient.
class Regulator
{
  public:
    Regulator(int horizon, const MpccCost& cost);

    /// Writes the moves for this model and returns their proof.
    LqrProof Solve(const MpccModel& model);

    const std::vector<double>& Gains() const { return m_gains; }
    const std::vector<double>& Moves() const { return m_moves; }

  private:
    void UpdateGains(double b);

    MpccCost m_cost;
    double m_b{-1.0}; ///< for which the gains are valid
    std::vector<double> m_gains;
    std::vector<double> m_remainders; ///< 1 - b K_k: share of a queue left by a free move
    std::vector<double> m_moves;
    std::vector<double> m_tops;   ///< largest input of each step
    std::vector<double> m_queues; ///< q_1 ... q_P
};

/// Counts of the solver's work, over all solves.
struct MpccQpCounters
{
    uint64_t solves{0};            ///< QPs handed to qpOASES
    uint64_t failures{0};          ///< solves that found no optimum
    uint64_t workingSetChanges{0}; ///< over all solves
};

/// One flow's QP: min 1/2 u' H u + u' g over the inputs u of the horizon (eqs. 4.6 to 4.17), everything in
/// units of BDP_max and scaled so that H's largest entry is near 2.
///
/// Eq. 4.17's rows are bounds here, which needs a quarter less time. A queue above its bound comes under it as
/// fast as the inputs allow: that fixes the first inputs (SoftBound) and caps the next. The other rows are idle
/// at the optimum (docs/decisions/0003-mpcc.md). That is checked: an optimum without rows that keeps
/// them all is the optimum with them. If changes cost, inputs overshoot, and the rows are kept.
class MpccQp
{
  public:
    MpccQp(int horizon, const MpccCost& cost);
    ~MpccQp();

    /// The first input of the optimum; none if qpOASES did not find it, which counts as a failure.
    std::optional<double> Solve(const MpccModel& model, MpccQpCounters& counters);

    /// Writes the problem of a model; true if H changed. Solve() does.
    bool Fill(const MpccModel& model);

    // --- The problem, as last filled
    const std::vector<double>& Hessian() const { return m_hessian; }
    const std::vector<double>& Gradient() const { return m_gradient; }
    const std::vector<double>& Lower() const { return m_lower; }
    const std::vector<double>& Upper() const { return m_upper; }
    double Scale() const { return m_scale; } ///< of H and g

  private:
    /// Reports whether the solution satisfies every row of eq. 4.17.
    bool KeepsRows(const MpccModel& model) const;

    void FillHessian();
    void FillRows(const MpccModel& model);

    size_t m_horizon;
    MpccCost m_cost;
    std::unique_ptr<qpOASES::SQProblem> m_problem;
    std::vector<double>
        m_counts; ///< B-bar' B-bar / b^2: steps that inputs i and j both reach, the last weighed
    std::vector<double> m_hessian;
    std::vector<double> m_gradient;
    std::vector<double> m_lower;
    std::vector<double> m_upper;
    std::vector<double> m_solution;
    std::vector<double> m_rows; ///< A of eq. 4.16, if changes cost; else empty, as the next two
    std::vector<double> m_rowsLower; ///< eq. 4.17
    std::vector<double> m_rowsUpper;
    double m_b{-1.0}; ///< for which H is valid
    double m_scale{1.0};
    bool m_hot{false};
};

} // namespace ns3::env::rdma
