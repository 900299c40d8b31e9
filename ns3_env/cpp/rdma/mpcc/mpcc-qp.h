// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC's QP (Zheng 2024, sec. 4.5.2) for qpOASES, normalised and hot-started.
#ifndef NS3_ENV_RDMA_MPCC_MPCC_QP_H
#define NS3_ENV_RDMA_MPCC_MPCC_QP_H

#include "mpcc-lqr.h"

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

/// What the solver did, over all solves.
struct MpccQpCounters
{
    uint64_t solves{0};            ///< QPs handed to qpOASES
    uint64_t failures{0};          ///< solves that found no optimum
    uint64_t workingSetChanges{0}; ///< over all solves
};

/**
 * One flow's QP: min 1/2 u' H u + u' g over the inputs u of the horizon (eqs. 4.6 to 4.17), everything in
 * units of BDP_max and scaled so that H's largest entry is near 2.
 *
 * Eq. 4.17's rows are bounds here, which takes a quarter less time. A queue above its bound comes under it as
 * fast as the inputs allow: that fixes the first inputs (SoftBound) and caps the next. The other rows are idle
 * at the optimum (docs/decisions/0005-mpcc.md). That is checked: an optimum without rows that keeps
 * them all is the optimum with them.
 */
class MpccQp
{
  public:
    MpccQp(int horizon, double weightQueue, double weightWindow);
    ~MpccQp();

    /// The first input of the optimum; none where qpOASES did not find it, which counts as a failure.
    std::optional<double> Solve(const MpccModel& model, MpccQpCounters& counters);

    /// Writes the problem of a model; true where H changed. Solve() does.
    bool Fill(const MpccModel& model);

    /// @name The problem, as last filled
    /// @{
    const std::vector<double>& Hessian() const { return m_hessian; }
    const std::vector<double>& Gradient() const { return m_gradient; }
    const std::vector<double>& Lower() const { return m_lower; }
    const std::vector<double>& Upper() const { return m_upper; }
    double Scale() const { return m_scale; } ///< of H and g
                                             /// @}

  private:
    /// Whether the solution keeps every row of eq. 4.17.
    bool KeepsRows(const MpccModel& model) const;

    size_t m_horizon;
    double m_weightQueue;
    double m_weightWindow;
    std::unique_ptr<qpOASES::SQProblem> m_problem;
    std::vector<double> m_counts; ///< B-bar' B-bar / b^2: steps that inputs i and j both reach
    std::vector<double> m_hessian;
    std::vector<double> m_gradient;
    std::vector<double> m_lower;
    std::vector<double> m_upper;
    std::vector<double> m_solution;
    double m_b{-1.0}; ///< for which H holds
    double m_scale{1.0};
    bool m_hot{false};
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_MPCC_MPCC_QP_H
