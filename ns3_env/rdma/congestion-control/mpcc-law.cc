// SPDX-License-Identifier: GPL-2.0-or-later
// Which window does MPCC choose? Zheng 2024, chapters 3 and 4, as a law of plain numbers.
#include "mpcc-law.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <qpOASES.hpp>
#include <stdexcept>
#include <string>

namespace ns3::rdma
{

/// qpOASES with the QP's matrices; the only place that knows it.
class MpccLaw::Solver
{
  public:
    explicit Solver(int horizon)
        : m_horizon(horizon),
          m_problem(horizon, horizon - 1),
          m_hessian(static_cast<size_t>(horizon) * horizon),
          m_gradient(horizon),
          m_constraints(static_cast<size_t>(horizon) * (horizon - 1)),
          m_lower(horizon),
          m_upper(horizon),
          m_lowerQueue(horizon - 1),
          m_upperQueue(horizon - 1),
          m_solution(horizon)
    {
        qpOASES::Options options;
        options.setToMPC();
        options.printLevel = qpOASES::PL_NONE;
        m_problem.setOptions(options);
        // A_qp = B-bar (sec. 4.5.2) in units of b: row i sums the inputs up to step i + 1. The first step's
        // queue depends on the first input alone: its constraint is a bound on that input.
        for (int i = 1; i < horizon; ++i)
        {
            for (int j = 0; j < horizon; ++j)
            {
                m_constraints[(i - 1) * horizon + j] = j <= i ? 1.0 : 0.0;
            }
        }
    }

    /// The first input of the optimum; false where qpOASES did not find it.
    bool Solve(const MpccModel& model,
               const MpccSettings& settings,
               MpccCounters& counters,
               double& move)
    {
        const bool newMatrices = FillMatrices(model.b, settings);
        FillVectors(model, settings);

        qpOASES::int_t changes = MAX_CHANGES;
        qpOASES::returnValue code = qpOASES::RET_QP_NOT_SOLVED;
        ++counters.solves;
        if (!m_hot)
        {
            code = Cold(changes);
        }
        else
        {
            code = newMatrices ? m_problem.hotstart(m_hessian.data(),
                                                    m_gradient.data(),
                                                    m_constraints.data(),
                                                    m_lower.data(),
                                                    m_upper.data(),
                                                    m_lowerQueue.data(),
                                                    m_upperQueue.data(),
                                                    changes)
                               : m_problem.hotstart(m_gradient.data(),
                                                    m_lower.data(),
                                                    m_upper.data(),
                                                    m_lowerQueue.data(),
                                                    m_upperQueue.data(),
                                                    changes);
            if (code != qpOASES::SUCCESSFUL_RETURN)
            {
                counters.workingSetChanges += static_cast<uint64_t>(changes);
                changes = MAX_CHANGES;
                code = Cold(changes); // a working set too far away is worth one start from nothing
            }
        }
        counters.workingSetChanges += static_cast<uint64_t>(changes);
        m_hot = code == qpOASES::SUCCESSFUL_RETURN;
        if (!m_hot ||
            m_problem.getPrimalSolution(m_solution.data()) != qpOASES::SUCCESSFUL_RETURN ||
            !std::isfinite(m_solution[0]))
        {
            m_hot = false;
            ++counters.failures;
            return false;
        }
        move = std::clamp(m_solution[0], m_lower[0], m_upper[0]);
        return true;
    }

  private:
    static constexpr int MAX_CHANGES = 200;
    /// Relative change of b below which the matrices are left alone.
    static constexpr double SAME_B = 1e-12;

    qpOASES::returnValue Cold(qpOASES::int_t& changes)
    {
        m_problem.reset();
        return m_problem.init(m_hessian.data(),
                              m_gradient.data(),
                              m_constraints.data(),
                              m_lower.data(),
                              m_upper.data(),
                              m_lowerQueue.data(),
                              m_upperQueue.data(),
                              changes);
    }

    /// H = 2 (B-bar' W_Q B-bar + W_R) (eq. 4.12), scaled so that its largest entry is 2; true where it changed.
    bool FillMatrices(double b, const MpccSettings& settings)
    {
        if (std::abs(b - m_b) <= SAME_B * b)
        {
            return false;
        }
        m_b = b;
        const double queueTerm = settings.weightQueue * b * b;
        m_scale = 1.0 / (settings.weightWindow + queueTerm * m_horizon);
        for (int i = 0; i < m_horizon; ++i)
        {
            for (int j = 0; j < m_horizon; ++j)
            {
                m_hessian[i * m_horizon + j] = 2.0 * m_scale *
                                               (queueTerm * (m_horizon - std::max(i, j)) +
                                                (i == j ? settings.weightWindow : 0.0));
            }
        }
        return true;
    }

    void FillVectors(const MpccModel& model, const MpccSettings& settings)
    {
        // g = 2 B-bar' W_Q A-bar x (eq. 4.13 with its factors in order)
        const double slope = 2.0 * m_scale * settings.weightQueue * m_b * model.q;
        for (int i = 0; i < m_horizon; ++i)
        {
            m_gradient[i] = slope * (m_horizon - i);
            m_lower[i] = model.lower; // eq. 4.15
            m_upper[i] = model.upper;
        }
        // 0 <= Q <= (N - 1) BDP_max (eqs. 4.16, 4.17), the upper one softened, in units of b
        const double lowerQueue = -model.q / m_b;
        for (int i = 1; i < m_horizon; ++i)
        {
            m_lowerQueue[i - 1] = lowerQueue;
            m_upperQueue[i - 1] = (model.SoftBound(i + 1) - model.q) / m_b;
        }
        m_lower[0] = std::max(m_lower[0], lowerQueue);
        m_upper[0] =
            std::max(m_lower[0], std::min(m_upper[0], (model.SoftBound(1) - model.q) / m_b));
    }

    int m_horizon;
    qpOASES::SQProblem m_problem;
    std::vector<double> m_hessian;
    std::vector<double> m_gradient;
    std::vector<double> m_constraints;
    std::vector<double> m_lower;
    std::vector<double> m_upper;
    std::vector<double> m_lowerQueue;
    std::vector<double> m_upperQueue;
    std::vector<double> m_solution;
    double m_b{-1.0};
    double m_scale{1.0};
    bool m_hot{false};
};

MpccLaw::MpccLaw(const MpccSettings& settings)
    : m_settings(settings)
{
    if (settings.horizon < 1)
    {
        throw std::invalid_argument("MPCC: the horizon must be at least 1, not " +
                                    std::to_string(settings.horizon));
    }
    if (!(settings.weightQueue > 0.0) || !(settings.weightWindow > 0.0))
    {
        throw std::invalid_argument("MPCC: both weights must be positive");
    }
    if (settings.memory < 0)
    {
        throw std::invalid_argument("MPCC: the memory must not be negative");
    }
    m_gains.resize(settings.horizon);
    m_moves.resize(settings.horizon);
    m_past.resize(std::max(settings.memory, 1));
}

MpccLaw::~MpccLaw() = default;
MpccLaw::MpccLaw(MpccLaw&&) noexcept = default;
MpccLaw& MpccLaw::operator=(MpccLaw&&) noexcept = default;

void
MpccLaw::Reset()
{
    m_next = 0;
    m_known = 0;
    m_model = {};
    m_solver.reset();
}

void
MpccLaw::Remember(double window)
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
MpccLaw::SumOfLast(int steps) const
{
    const size_t wanted = static_cast<size_t>(steps);
    const size_t known = std::min(wanted, m_known);
    double sum = m_first * static_cast<double>(wanted - known);
    // The last `known` windows end before m_next and may wrap.
    const size_t tail = std::min(known, m_next);
    for (size_t i = m_next - tail; i < m_next; ++i)
    {
        sum += m_past[i];
    }
    for (size_t i = m_past.size() - (known - tail); i < m_past.size(); ++i)
    {
        sum += m_past[i];
    }
    return sum;
}

double
MpccLaw::Floor(const MpccInput& input) const
{
    const double flows = std::max(input.stateFlows, 1.0);
    const double share = std::min(1.0, input.stateRateBps / (input.hostRateBps * flows));
    return std::min(std::max(m_settings.floorPackets * input.packetBytes,
                             m_settings.floorShare * share * input.bdpBytes),
                    input.bdpBytes);
}

MpccModel
MpccLaw::BuildModel(const MpccInput& input)
{
    const double flows = std::max(input.stateFlows, 1.0);
    const double window = std::clamp(input.windowBytes, Floor(input), input.bdpBytes);
    Remember(window / input.bdpBytes);

    MpccModel model;
    // W* = R_out BDP_max / (R_in,max N). Where all flows together cannot fill the link, R_out is what they
    // send (Table 3.1), and the fair share is the whole BDP_max.
    model.fairShare = std::min(1.0, input.stateRateBps / (input.hostRateBps * flows));
    model.lower = -model.fairShare;
    model.upper = 1.0 - model.fairShare;
    model.queueBound = flows - 1.0;

    // dt = packet * RTT / W (eq. A.1), with the RTT that eq. 2.2 gives for the queue just reported: the
    // measured one is as old as the packet. B = dt N R_in,max / (8 BDP_max) (eq. 3.4), and BDP_max is
    // base RTT * R_in,max / 8.
    const double waitNs =
        input.stateRateBps > 0.0 ? input.stateQueueBytes * 8e9 / input.stateRateBps : 0.0;
    const double rttNs = input.baseRttNs + waitNs;
    const double interval = m_settings.intervalScale * input.packetBytes * rttNs / window;
    model.b = interval * flows / input.baseRttNs;

    // Q-bar(k) = Q(k) + sum_{i < tau} B W-bar(k - 1 - i) (eq. 3.7), tau = tau_1 + tau_2 in whole steps.
    const double delay =
        m_settings.delayScale * (input.stateInputDelayNs + input.stateFeedbackDelayNs);
    const int steps = static_cast<int>(
        std::min(std::round(delay / interval), static_cast<double>(m_settings.memory)));
    const double past = steps > 0 ? SumOfLast(steps) - steps * model.fairShare : 0.0;
    // No queue is shorter than empty: capacity that past inputs left unused does not come back.
    model.q = std::max(input.stateQueueBytes / input.bdpBytes + model.b * past, 0.0);
    return model;
}

double
MpccLaw::Move()
{
    if (m_model.q + m_model.b * m_model.lower > m_model.queueBound)
    {
        ++m_counters.infeasible;
    }
    if (m_settings.solver != MpccSolver::Qp)
    {
        LqrGains(m_model.b, m_settings.weightQueue, m_settings.weightWindow, m_gains);
        if (m_settings.solver == MpccSolver::Lqr || LqrSequence(m_model, m_gains, m_moves))
        {
            ++m_counters.closedForm;
            return LqrMove(m_model, m_gains[0]);
        }
    }
    if (!m_solver)
    {
        m_solver = std::make_unique<Solver>(m_settings.horizon);
    }
    double move = 0.0;
    if (!m_solver->Solve(m_model, m_settings, m_counters, move))
    {
        LqrGains(m_model.b, m_settings.weightQueue, m_settings.weightWindow, m_gains);
        move = LqrMove(m_model, m_gains[0]);
    }
    return move;
}

double
MpccLaw::Decide(const MpccInput& input)
{
    ++m_counters.decisions;
    m_model = BuildModel(input);
    const double window = (m_model.fairShare + Move()) * input.bdpBytes;
    return std::clamp(window, Floor(input), input.bdpBytes);
}

double
BenchmarkMpcc(int horizon, int iterations)
{
    MpccLaw law({.horizon = horizon});
    // The 4-to-1 dumbbell at 100 Gb/s; queue and RTT follow a saw whose steps share no factor with it.
    MpccInput input{.baseRttNs = 6240,
                    .hostRateBps = 100e9,
                    .bdpBytes = 78000,
                    .packetBytes = 1080,
                    .windowBytes = 78000,
                    .stateQueueBytes = 0,
                    .stateFlows = 4,
                    .stateRateBps = 100e9,
                    .stateInputDelayNs = 1086,
                    .stateFeedbackDelayNs = 5154};
    std::vector<double> micros;
    micros.reserve(std::max(iterations, 1));
    for (int i = 0; i < std::max(iterations, 1); ++i)
    {
        input.stateQueueBytes = static_cast<double>((i * 7919) % 60000);
        const auto begin = std::chrono::steady_clock::now();
        input.windowBytes = law.Decide(input);
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        micros.push_back(took.count());
    }
    std::nth_element(micros.begin(), micros.begin() + micros.size() / 2, micros.end());
    return micros[micros.size() / 2];
}

} // namespace ns3::rdma
