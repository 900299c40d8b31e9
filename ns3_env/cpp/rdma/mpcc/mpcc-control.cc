// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC's choice of a window (Zheng 2024, chapters 3 and 4) as a function of plain numbers.
#include "mpcc-control.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace ns3::env::rdma
{

namespace
{

const MpccSettings&
Checked(const MpccSettings& settings)
{
    if (settings.horizon < 1)
    {
        throw std::invalid_argument("MPCC: the horizon must be at least 1, not " +
                                    std::to_string(settings.horizon));
    }
    const MpccCost& cost = settings.cost;
    if (!(cost.weightQueue > 0.0) || !(cost.weightWindow > 0.0) || !(cost.terminalWeight > 0.0))
    {
        throw std::invalid_argument(
            "MPCC: the weights of queue, window and last state must be positive");
    }
    if (!(cost.queueReference >= 0.0) || !(cost.weightChange >= 0.0))
    {
        throw std::invalid_argument(
            "MPCC: the queue wanted and the weight of changes must not be negative");
    }
    if (settings.memory < 0)
    {
        throw std::invalid_argument("MPCC: the memory must not be negative");
    }
    if (settings.acksPerDecision < 0)
    {
        throw std::invalid_argument("MPCC: the ACKs per decision must not be negative");
    }
    return settings;
}

} // namespace

MpccControl::MpccControl(const MpccSettings& settings)
    : m_settings(Checked(settings)),
      m_regulator(settings.horizon, settings.cost),
      m_past(std::max(settings.memory, 1))
{
}

void
MpccControl::Reset()
{
    m_next = 0;
    m_known = 0;
    m_model = {};
    m_qp.reset();
}

void
MpccControl::Remember(double window)
{
    if (m_known == 0)
    {
        m_first = window;
    }
    m_past[m_next] = window;
    m_next = m_next + 1 == m_past.size() ? 0 : m_next + 1;
    m_known = std::min(m_known + 1, m_past.size());
}

double
MpccControl::SumOfLast(int steps) const
{
    const size_t wanted = static_cast<size_t>(steps);
    const size_t known = std::min(wanted, m_known);
    // The last `known` windows end before m_next and may wrap.
    const size_t tail = std::min(known, m_next);
    const auto begin = m_past.begin();
    const auto end = m_past.end();
    return m_first * static_cast<double>(wanted - known) +
           std::reduce(begin + static_cast<ptrdiff_t>(m_next - tail),
                       begin + static_cast<ptrdiff_t>(m_next)) +
           std::reduce(end - static_cast<ptrdiff_t>(known - tail), end);
}

double
MpccControl::Floor(const MpccInput& input) const
{
    const double flows = std::max(input.stateFlows, 1.0);
    const double share = std::min(1.0, input.stateRateBps / (input.hostRateBps * flows));
    return std::min(std::max(m_settings.floorPackets * input.packetBytes,
                             m_settings.floorShare * share * input.bdpBytes),
                    input.bdpBytes);
}

MpccModel
MpccControl::BuildModel(const MpccInput& input)
{
    const double flows = std::max(input.stateFlows, 1.0);
    const double window = std::clamp(input.windowBytes, Floor(input), input.bdpBytes);
    Remember(window / input.bdpBytes);

    MpccModel model;
    // W* = R_out BDP_max / (R_in,max N). If all flows together cannot fill the link, R_out is their sending rate (Table
    // 3.1), and the fair share is the whole BDP_max.
    model.fairShare = std::min(1.0, input.stateRateBps / (input.hostRateBps * flows));
    model.lower = -model.fairShare;
    model.upper = 1.0 - model.fairShare;
    model.queueBound = flows - 1.0;
    model.reference = std::min(m_settings.cost.queueReference, model.queueBound);
    model.previous = window / input.bdpBytes - model.fairShare;

    // dt = packet * RTT / W (eq. A.1), with the RTT that eq. 2.2 gives for the queue just reported: the
    // measured one is as old as the packet. B = dt N R_in,max / (8 BDP_max) (eq. 3.4), and BDP_max is
    // base RTT * R_in,max / 8.
    const double waitNs =
        input.stateRateBps > 0.0 ? input.stateQueueBytes * 8e9 / input.stateRateBps : 0.0;
    const double rttNs = input.baseRttNs + waitNs;
    // A step is the time between two decisions: n ACKs, or a round trip.
    const double acks =
        m_settings.acksPerDecision > 0 ? m_settings.acksPerDecision : window / input.packetBytes;
    const double interval = m_settings.intervalScale * acks * input.packetBytes * rttNs / window;
    model.b = interval * flows / input.baseRttNs;

    // Q-bar(k) = Q(k) + sum_{i < tau} B W-bar(k - 1 - i) (eq. 3.7), tau = tau_1 + tau_2 in whole steps.
    const double delay =
        m_settings.delayScale * (input.stateInputDelayNs + input.stateFeedbackDelayNs);
    const int steps = static_cast<int>(
        std::min(std::round(delay / interval), static_cast<double>(m_settings.memory)));
    const double past = steps > 0 ? SumOfLast(steps) - steps * model.fairShare : 0.0;
    // No queue is shorter than empty: capacity that past inputs left unused is not recovered.
    model.q = std::max(input.stateQueueBytes / input.bdpBytes + model.b * past, 0.0);
    return model;
}

double
MpccControl::Move()
{
    if (m_model.q + m_model.b * m_model.lower > m_model.queueBound)
    {
        ++m_counters.infeasible;
    }
    if (m_settings.solver == MpccSolver::Qp &&
        (!m_settings.shortcut || m_settings.cost.weightChange > 0.0))
    {
        return QpMove();
    }
    const LqrProof proof = m_regulator.Solve(m_model);
    if (proof == LqrProof::None && m_settings.solver == MpccSolver::Qp)
    {
        return QpMove();
    }
    ++(proof == LqrProof::Unconstrained ? m_counters.unconstrained : m_counters.saturated);
    return m_regulator.Moves().front();
}

double
MpccControl::QpMove()
{
    if (!m_qp)
    {
        m_qp = std::make_unique<MpccQp>(m_settings.horizon, m_settings.cost);
    }
    if (const std::optional<double> move = m_qp->Solve(m_model, m_counters.qp))
    {
        return *move;
    }
    m_regulator.Solve(m_model);
    return m_regulator.Moves().front();
}

double
MpccControl::Decide(const MpccInput& input)
{
    ++m_counters.decisions;
    m_model = BuildModel(input);
    const double window = (m_model.fairShare + Move()) * input.bdpBytes;
    return std::clamp(window, Floor(input), input.bdpBytes);
}

} // namespace ns3::env::rdma
