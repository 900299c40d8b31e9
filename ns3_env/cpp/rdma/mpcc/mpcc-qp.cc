// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC's QP (Zheng 2024, sec. 4.5.2) for qpOASES, normalised and hot-started.
#include "mpcc-qp.h"

#include <algorithm>
#include <cmath>
#include <qpOASES.hpp>

namespace ns3::env::rdma
{

namespace
{
/// Rounding error of a gradient, relative to the sum of its terms.
constexpr double TOLERANCE = 1e-10;
/// Queues of long horizons shrink below the resolution of doubles.
constexpr double UNDERFLOW_ERROR = 1e-290;
} // namespace

Regulator::Regulator(int horizon, const MpccCost& cost)
    : m_cost(cost),
      m_gains(horizon),
      m_remainders(horizon),
      m_moves(horizon),
      m_tops(horizon),
      m_queues(horizon)
{
}

void
Regulator::UpdateGains(double b)
{
    if (b == m_b)
    {
        return;
    }
    m_b = b;
    double cost = m_cost.weightQueue * m_cost.terminalWeight; // of the last state
    for (size_t k = m_gains.size(); k-- > 0;)
    {
        // Riccati recursion of a scalar integrator (A = 1)
        const double part = 1.0 / (m_cost.weightWindow + b * b * cost);
        m_gains[k] = b * cost * part;
        m_remainders[k] = m_cost.weightWindow * part;
        cost = m_cost.weightQueue + cost * m_remainders[k];
    }
}

LqrProof
Regulator::Solve(const MpccModel& model)
{
    UpdateGains(model.b);
    const size_t horizon = m_gains.size();
    bool touched = false;
    double q = model.q;
    for (size_t k = 0; k < horizon; ++k)
    {
        // A queue above the bound never returns above it: later steps have only eq. 4.2.
        const double top = q > model.queueBound ? model.InputUnderBound(q) : model.upper;
        const double excess = q - model.reference;
        const double wanted = -m_gains[k] * excess;
        const double move = std::max(std::min(wanted, top), model.lower);
        touched = touched || move != wanted;
        // q + b move, without its cancellation if the move is free
        q = move == wanted ? model.reference + m_remainders[k] * excess : q + model.b * move;
        m_tops[k] = top;
        m_moves[k] = move;
        m_queues[k] = q;
    }

    const double slack = TOLERANCE * (1.0 + model.q);
    double later =
        0.0; // sum over j > k of W_Q q_j: half of eq. 4.13's and 4.12's share in the gradient
    double size = 0.0;
    for (size_t k = horizon; k-- > 0;)
    {
        if (!(m_queues[k] >= -slack) ||
            m_queues[k] > model.SoftBound(static_cast<int>(k) + 1) + slack)
        {
            return LqrProof::None; // eq. 4.3
        }
        const double weight =
            k + 1 == horizon ? m_cost.weightQueue * m_cost.terminalWeight : m_cost.weightQueue;
        later += weight * (m_queues[k] - model.reference);
        size += weight * std::abs(m_queues[k] - model.reference);
        const double move = m_moves[k];
        const double slope = m_cost.weightWindow * move + model.b * later;
        const double error =
            TOLERANCE * (m_cost.weightWindow * std::abs(move) + model.b * size) + UNDERFLOW_ERROR;
        const bool mayRise = move < m_tops[k];
        const bool mayFall = move > model.lower;
        if ((mayRise && !(slope >= -error)) || (mayFall && !(slope <= error)))
        {
            return LqrProof::None;
        }
    }
    return touched ? LqrProof::Saturated : LqrProof::Unconstrained;
}

namespace
{

constexpr int MAX_CHANGES = 200;
/// Input, in BDPs, by which eq. 4.17's rows are widened.
constexpr double ROW_SLACK = 1e-9;

/// Relative change of b below which H stays as it is.
constexpr double SAME_B = 1e-12;

} // namespace

MpccQp::MpccQp(int horizon, const MpccCost& cost)
    : m_horizon(static_cast<size_t>(horizon)),
      m_cost(cost),
      m_problem(
          std::make_unique<qpOASES::SQProblem>(horizon, cost.weightChange > 0.0 ? horizon : 0)),
      m_counts(m_horizon * m_horizon),
      m_hessian(m_horizon * m_horizon),
      m_gradient(m_horizon),
      m_lower(m_horizon),
      m_upper(m_horizon),
      m_solution(m_horizon)
{
    qpOASES::Options options;
    options.setToMPC();
    options.enableFarBounds = qpOASES::BT_FALSE; // every input has two bounds
    // The default, 1e-9, leaves 1e-7 of the fair share after a thousand hot starts with P = 20.
    options.terminationTolerance = 1e-12;
    options.printLevel = qpOASES::PL_NONE;
    m_problem->setOptions(options);
    for (size_t i = 0; i < m_horizon; ++i)
    {
        for (size_t j = 0; j < m_horizon; ++j)
        {
            m_counts[i * m_horizon + j] =
                static_cast<double>(m_horizon - 1 - std::max(i, j)) + m_cost.terminalWeight;
        }
    }
    if (m_cost.weightChange > 0.0)
    {
        m_rows.resize(m_horizon * m_horizon);
        m_rowsLower.resize(m_horizon);
        m_rowsUpper.resize(m_horizon);
    }
}

MpccQp::~MpccQp() = default;

void
MpccQp::FillHessian()
{
    // H = 2 (B-bar' W_Q B-bar + W_R + W_D D' D) (eq. 4.12), D the differences of neighbouring inputs
    const double queueTerm = m_cost.weightQueue * m_b * m_b;
    const double perInput = m_cost.weightWindow + queueTerm * m_counts.front();
    m_scale = 1.0 / (perInput + 2.0 * m_cost.weightChange);
    const double factor = 2.0 * m_scale * queueTerm;
    std::transform(m_counts.begin(),
                   m_counts.end(),
                   m_hessian.begin(),
                   [factor](double count) { return factor * count; });
    const double change = 2.0 * m_scale * m_cost.weightChange;
    for (size_t i = 0; i < m_horizon; ++i)
    {
        const bool last = i + 1 == m_horizon;
        m_hessian[i * m_horizon + i] +=
            2.0 * m_scale * m_cost.weightWindow + (last ? change : 2.0 * change);
        if (!last)
        {
            m_hessian[i * m_horizon + i + 1] -= change;
            m_hessian[(i + 1) * m_horizon + i] -= change;
        }
    }
}

void
MpccQp::FillRows(const MpccModel& model)
{
    // Divided by b, so that A is of ones. If the bound is out of reach, only one sequence meets it exactly.
    for (size_t i = 0; i < m_horizon; ++i)
    {
        std::fill_n(m_rows.begin() + static_cast<ptrdiff_t>(i * m_horizon), i + 1, 1.0);
        const double bound = model.SoftBound(static_cast<int>(i) + 1);
        m_rowsLower[i] = -model.q / m_b - ROW_SLACK;
        m_rowsUpper[i] = (bound - model.q) / m_b + ROW_SLACK;
    }
}

bool
MpccQp::Fill(const MpccModel& model)
{
    const bool newHessian = !(std::abs(model.b - m_b) <= SAME_B * model.b);
    if (newHessian)
    {
        m_b = model.b;
        FillHessian();
    }
    // g = 2 B-bar' W_Q (A-bar x - r) (eq. 4.13 with its factors in order)
    const double slope = 2.0 * m_scale * m_cost.weightQueue * m_b * (model.q - model.reference);
    for (size_t i = 0; i < m_horizon; ++i)
    {
        m_gradient[i] = slope * m_counts[i * m_horizon + i];
        m_lower[i] = model.lower; // eq. 4.15
        m_upper[i] = model.upper;
    }
    m_gradient[0] -= 2.0 * m_scale * m_cost.weightChange * model.previous;
    if (!m_rows.empty())
    {
        FillRows(model);
        return newHessian;
    }
    // Q <= (N - 1) BDP_max (eqs. 4.16, 4.17), softened
    double q = model.q;
    for (size_t i = 0; i < m_horizon && q > model.queueBound; ++i)
    {
        m_upper[i] = model.InputUnderBound(q);
        q += model.b * m_upper[i];
    }
    return newHessian;
}

bool
MpccQp::KeepsRows(const MpccModel& model) const
{
    // qpOASES's inputs are right to 1e-9, and b turns inputs into queues.
    const double tolerance = 1e-6 * (model.q + model.b);
    double q = model.q;
    for (size_t i = 0; i < m_horizon; ++i)
    {
        q += model.b * m_solution[i];
        const bool inside =
            q >= -tolerance && q <= model.SoftBound(static_cast<int>(i) + 1) + tolerance;
        if (!inside)
        {
            return false;
        }
    }
    return true;
}

std::optional<double>
MpccQp::Solve(const MpccModel& model, MpccQpCounters& counters)
{
    const bool newHessian = Fill(model);
    const double* h = m_hessian.data();
    const double* g = m_gradient.data();
    const double* low = m_lower.data();
    const double* high = m_upper.data();
    const bool rows = !m_rows.empty();
    const double* a = rows ? m_rows.data() : nullptr;
    const double* below = rows ? m_rowsLower.data() : nullptr;
    const double* above = rows ? m_rowsUpper.data() : nullptr;
    const auto cold = [&](qpOASES::int_t& changes)
    {
        m_problem->reset();
        return m_problem->init(h, g, a, low, high, below, above, changes);
    };

    qpOASES::int_t changes = MAX_CHANGES;
    qpOASES::returnValue code = qpOASES::RET_QP_NOT_SOLVED;
    ++counters.solves;
    if (!m_hot)
    {
        code = cold(changes);
    }
    else
    {
        code = newHessian ? m_problem->hotstart(h, g, a, low, high, below, above, changes)
                          : m_problem->hotstart(g, low, high, below, above, changes);
        if (code != qpOASES::SUCCESSFUL_RETURN)
        {
            counters.workingSetChanges += static_cast<uint64_t>(changes);
            changes = MAX_CHANGES;
            code = cold(changes); // a working set too far away is worth one cold start
        }
    }
    counters.workingSetChanges += static_cast<uint64_t>(changes);
    m_hot = code == qpOASES::SUCCESSFUL_RETURN &&
            m_problem->getPrimalSolution(m_solution.data()) == qpOASES::SUCCESSFUL_RETURN &&
            KeepsRows(model);
    if (!m_hot)
    {
        ++counters.failures;
        return std::nullopt;
    }
    return std::clamp(m_solution[0], m_lower[0], m_upper[0]);
}

} // namespace ns3::env::rdma
