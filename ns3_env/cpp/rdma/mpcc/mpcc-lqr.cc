// SPDX-License-Identifier: GPL-2.0-or-later
// Finite-horizon regulator inside MPCC's constraints, with a proof where it solves the QP.
#include "mpcc-lqr.h"

#include <cmath>

namespace ns3::env::rdma
{

namespace
{
/// Rounding error of a gradient, relative to the sum of its terms.
constexpr double TOLERANCE = 1e-10;
/// Queues of long horizons shrink below what doubles resolve.
constexpr double UNDERFLOW_ERROR = 1e-290;
} // namespace

Regulator::Regulator(int horizon, double weightQueue, double weightWindow)
    : m_weightQueue(weightQueue),
      m_weightWindow(weightWindow),
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
    double cost = m_weightQueue; // of the last state; no terminal weight (Zheng 2024, sec. 4.4)
    for (size_t k = m_gains.size(); k-- > 0;)
    {
        // Riccati recursion of a scalar integrator (A = 1)
        const double part = 1.0 / (m_weightWindow + b * b * cost);
        m_gains[k] = b * cost * part;
        m_remainders[k] = m_weightWindow * part;
        cost = m_weightQueue + cost * m_remainders[k];
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
        // A queue above the bound never comes back above it: later steps have eq. 4.2 alone.
        const double top = q > model.queueBound ? model.InputUnderBound(q) : model.upper;
        const double wanted = -m_gains[k] * q;
        const double move = std::max(std::min(wanted, top), model.lower);
        touched = touched || move != wanted;
        // q + b move, without its cancellation where the move is free
        q = move == wanted ? m_remainders[k] * q : q + model.b * move;
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
        later += m_weightQueue * m_queues[k];
        size += m_weightQueue * std::abs(m_queues[k]);
        const double move = m_moves[k];
        const double slope = m_weightWindow * move + model.b * later;
        const double error =
            TOLERANCE * (m_weightWindow * std::abs(move) + model.b * size) + UNDERFLOW_ERROR;
        const bool mayRise = move < m_tops[k];
        const bool mayFall = move > model.lower;
        if ((mayRise && !(slope >= -error)) || (mayFall && !(slope <= error)))
        {
            return LqrProof::None;
        }
    }
    return touched ? LqrProof::Saturated : LqrProof::Unconstrained;
}

} // namespace ns3::env::rdma
