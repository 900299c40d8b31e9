// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC's choice of a window (Zheng 2024, chapters 3 and 4) as a function of plain numbers.
#pragma once

#include "mpcc-qp.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::env::rdma
{

/// Inputs of one decision, by the names of the observation fields (channel/observation-fields.h).
struct MpccInput
{
    double baseRttNs{0};         ///< of the path without queues (eq. 2.2)
    double hostRateBps{0};       ///< R_in,max
    double bdpBytes{0};          ///< BDP_max = base RTT * R_in,max / 8 (eq. 2.3)
    double packetBytes{0};       ///< a full packet on the wire
    double windowBytes{0};       ///< the window in force, W(k-1); above BDP_max counts as BDP_max
    double stateQueueBytes{0};   ///< Q of the state switch
    double stateFlows{1};        ///< N of the state switch
    double stateRateBps{0};      ///< R_link of the state switch
    double stateInputDelayNs{0}; ///< tau_1 * dt
    double stateFeedbackDelayNs{0}; ///< tau_2 * dt
};

/// Number of doubles in an MpccInput, for callers with rows of them.
inline constexpr int MPCC_INPUTS = 10;

/// Method by which the window is computed.
enum class MpccSolver : uint8_t
{
    Qp,  ///< the QP's optimum
    Lqr, ///< the regulator inside the constraints, unproven: never qpOASES
};

struct MpccSettings
{
    int horizon{5}; ///< P
    MpccCost cost{};
    /// Minimum window, in packets. The fair share of up to 100 flows per packet of BDP is above it.
    double floorPackets{0.01};
    /// Minimum window as a share of W*. A flow learns only from its own ACKs: at a hundredth of a packet it
    /// would get no feedback for a hundred base RTTs; at a tenth of its fair share a queue still drains at 0.9 R.
    double floorShare{0.1};
    double delayScale{1.0};    ///< factor on tau_1 + tau_2; 0 switches the compensation off
    double intervalScale{1.0}; ///< factor on dt (eq. A.1)
    int memory{256};           ///< inputs remembered at most
    /// ACKs from one decision to the next, as the model's step; 0 for one decision per round trip.
    int acksPerDecision{1};
    MpccSolver solver{MpccSolver::Qp};
    /// Qp: use the regulator's sequence if it is proven optimal; otherwise qpOASES always.
    bool shortcut{true};
};

struct MpccCounters
{
    uint64_t decisions{0};
    uint64_t unconstrained{0}; ///< decisions of the regulator that no constraint touched
    uint64_t saturated{0};     ///< decisions of the regulator at a constraint
    uint64_t infeasible{0};    ///< decisions for which eq. 4.3 was infeasible and was softened
    MpccQpCounters qp;         ///< if a solve failed, the regulator replaced it
};

/// One flow's controller. Decide() is a function only of the inputs so far, so that the same numbers give
/// the same windows inside the simulator and from Python.
///
/// If the upper bound on the queue (eq. 4.3) cannot be met, because a flow has just left, it is moved to the smallest
/// queue that the inputs can reach at each step: the limit of a slack of high cost, without another variable. The QP is
/// then always feasible.
class MpccControl
{
  public:
    /// Raises std::invalid_argument for a horizon below 1 or weights that are not positive.
    explicit MpccControl(const MpccSettings& settings);

    /// The next window in bytes: at least Floor(input), at most BDP_max.
    double Decide(const MpccInput& input);

    /// Forgets inputs and solver; counters continue.
    void Reset();

    /// Minimum window that Decide() may return for this input.
    double Floor(const MpccInput& input) const;

    const MpccSettings& Settings() const { return m_settings; }
    const MpccCounters& Counters() const { return m_counters; }
    /// The model behind the last decision.
    const MpccModel& LastModel() const { return m_model; }

  private:
    /// Remembers the window in force since the last decision.
    void Remember(double window);
    /// Sum of the last `steps` windows; older ones than the first count as the first.
    double SumOfLast(int steps) const;
    MpccModel BuildModel(const MpccInput& input);
    double Move();
    double QpMove();

    MpccSettings m_settings;
    MpccCounters m_counters;
    MpccModel m_model;
    Regulator m_regulator;
    std::unique_ptr<MpccQp> m_qp; ///< from the first decision that needs it
    std::vector<double> m_past;   ///< ring of windows, in units of BDP_max
    size_t m_next{0};             ///< index of the next window
    size_t m_known{0};            ///< windows remembered
    double m_first{0.0};          ///< the window before the first decision
};

} // namespace ns3::env::rdma
