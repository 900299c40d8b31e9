// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC controller: decision times, telemetry, and the time at which a window takes effect.
#include "mpcc.h"

#include "ns3/enum.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <chrono>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Mpcc);

TypeId
Mpcc::GetTypeId()
{
    const MpccSettings defaults;
    static TypeId tid =
        Declaration<Mpcc>("rdma::mpcc")
            .Number("WeightQueue",
                    "W_Q, the cost of the queue in BDPs, squared (Zheng 2024, eq. 4.5).",
                    &Mpcc::m_weightQueue,
                    {defaults.cost.weightQueue, 1e-9, 1e9})
            .Number("WeightWindow",
                    "W_R, the cost of the window's distance from its fair share in BDPs, squared.",
                    &Mpcc::m_weightWindow,
                    {defaults.cost.weightWindow, 1e-9, 1e9})
            .Number("QueueReference",
                    "r_x, the queue that is wanted, in BDPs (Zheng 2024, eq. 4.4); at most the "
                    "bound of eq. 4.3.",
                    &Mpcc::m_queueReference,
                    {defaults.cost.queueReference, 0.0, 1e3})
            .Number("TerminalWeight",
                    "P_t over W_Q: what the last predicted queue counts (eq. 4.4).",
                    &Mpcc::m_terminalWeight,
                    {defaults.cost.terminalWeight, 1e-6, 1e6})
            .Number("WeightChange",
                    "The cost of the change from one window to the next in BDPs, squared; above 0 "
                    "each decision is qpOASES's.",
                    &Mpcc::m_weightChange,
                    {defaults.cost.weightChange, 0.0, 1e9})
            .Number("Horizon", "P, steps predicted.", &Mpcc::m_horizon, {defaults.horizon, 1, 100})
            .Number("FloorPackets",
                    "Least window in packets; below one the flow is paced.",
                    &Mpcc::m_floorPackets,
                    {defaults.floorPackets, 1e-6, 1e6})
            .Number("FloorShare",
                    "Least window as a share of the fair share.",
                    &Mpcc::m_floorShare,
                    {defaults.floorShare, 0.0, 1.0})
            .Number("DelayScale",
                    "Factor on the delay that is compensated; 0 for none.",
                    &Mpcc::m_delayScale,
                    {defaults.delayScale, 0.0, 100.0})
            .Number("IntervalScale",
                    "Factor on the model's interval (Zheng 2024, eq. A.1).",
                    &Mpcc::m_intervalScale,
                    {defaults.intervalScale, 1e-3, 1e3})
            .Number("AcksPerDecision",
                    "Decide on the first ACK and every n-th after it; 0 for once per round trip. "
                    "The model's step is the time between two decisions.",
                    &Mpcc::m_acksPerDecision,
                    {defaults.acksPerDecision, 0, 1'000'000})
            .Add("Bottleneck",
                 "Whose queue is the state: of the most bytes (Zheng 2024, Algorithm 1), or of "
                 "those that take their link the longest, where a single packet is no queue; where "
                 "all are empty, the least fair share's.",
                 EnumValue(Bottleneck::LongestQueue),
                 MakeEnumAccessor<Bottleneck>(&Mpcc::m_bottleneck),
                 MakeEnumChecker(Bottleneck::LongestQueue,
                                 "LongestQueue",
                                 Bottleneck::LongestDrain,
                                 "LongestDrain"))
            .Add("Solver",
                 "Qp: the QP's optimum. Lqr: the closed form inside the constraints, unproven; "
                 "never qpOASES.",
                 EnumValue(defaults.solver),
                 MakeEnumAccessor<MpccSolver>(&Mpcc::m_solver),
                 MakeEnumChecker(MpccSolver::Qp, "Qp", MpccSolver::Lqr, "Lqr"))
            .Flag("Shortcut",
                  "Solver Qp: take the closed form's inputs where they are proven to be the "
                  "optimum, and call qpOASES otherwise; false: call qpOASES always.",
                  &Mpcc::m_shortcut,
                  defaults.shortcut)
            .Flag("Pacing",
                  "Send at W / base RTT, as the model assumes (Zheng 2024, eq. 3.3: R_in is linear "
                  "in W); otherwise at line rate while the window allows.",
                  &Mpcc::m_pacing,
                  true)
            .Flag("AtOnce",
                  "Pace the packet that waits by each new window, as decisions of policies do; "
                  "otherwise from the next packet on.",
                  &Mpcc::m_atOnce,
                  false)
            .Number("ComputationTime",
                    "Simulated time from an ACK until the window decided on it takes effect.",
                    &Mpcc::m_computationTime,
                    {Time(0), Time(0), Seconds(1000)})
            .Flag("ChargeMeasuredTime",
                  "Add the time that the decision took on this machine to ComputationTime. Runs "
                  "are then not reproducible: no two take the same time.",
                  &Mpcc::m_chargeMeasuredTime,
                  false)
            .Flag("MeasureTime",
                  "Count how long decisions take on this machine (counters decision_us_*).",
                  &Mpcc::m_measureTime,
                  false)
            .State("StateHop",
                   "Whose queue is the state, from 1 at the sender's side.",
                   &Mpcc::m_stateHop)
            .State("PredictedQueueBytes",
                   "Q-bar(k), the state queue when windows on their way have arrived (eq. 3.7).",
                   &Mpcc::m_predictedQueueBytes)
            .State("FairShareBytes",
                   "W*, the flow's share of the state switch's rate, as a window.",
                   &Mpcc::m_fairShareBytes)
            .Counter("Decisions", "Windows chosen.", &Mpcc::m_decisions)
            .Counter("QpSolves", "Decisions by qpOASES.", &Mpcc::m_qpSolves)
            .Counter("QpInfeasible",
                     "Decisions at which eq. 4.3 was softened.",
                     &Mpcc::m_qpInfeasible);
    return tid;
}

MpccInput
MakeMpccInput(const FlowState& flow, const StateSwitch& state)
{
    const PathFacts& path = flow.Path();
    return {.baseRttNs = static_cast<double>(path.baseRtt) / PS_PER_NS,
            .hostRateBps = path.hostRateBps,
            .bdpBytes = path.bdpBytes,
            .packetBytes = static_cast<double>(path.packetBytes),
            .windowBytes = flow.WindowBytes(),
            .stateQueueBytes = state.queueBytes,
            .stateFlows = state.flows,
            .stateRateBps = state.rateBps,
            .stateInputDelayNs = state.inputDelayNs,
            .stateFeedbackDelayNs = state.feedbackDelayNs};
}

IntRequest
Mpcc::GetIntRequest() const
{
    // 5 hops of Q (32 bit) and N (16 bit), and n_hop (16 bit): 32 B (Zheng 2024, Fig. 5.1)
    return {.wireBytes = 32, .hopRecords = true, .quantised = false};
}

double
Mpcc::GetRateFloor(const FlowState& flow) const
{
    // the minimum window over a base RTT (Zheng 2024, eq. 3.3)
    return flow.Path().hostRateBps * GetWindowFloor(flow) / flow.Path().bdpBytes;
}

void
Mpcc::Apply(FlowState& flow, double windowBytes) const
{
    flow.SetWindow(windowBytes);
    if (m_pacing)
    {
        const double rate = flow.Path().hostRateBps * windowBytes / flow.Path().bdpBytes;
        m_atOnce ? flow.SetRateAndRepace(rate) : flow.SetRate(rate);
    }
}

void
Mpcc::OnFlowStart(FlowState& flow)
{
    m_control.emplace(MpccSettings{.horizon = m_horizon,
                                   .cost = {.weightQueue = m_weightQueue,
                                            .weightWindow = m_weightWindow,
                                            .queueReference = m_queueReference,
                                            .terminalWeight = m_terminalWeight,
                                            .weightChange = m_weightChange},
                                   .floorPackets = m_floorPackets,
                                   .floorShare = m_floorShare,
                                   .delayScale = m_delayScale,
                                   .intervalScale = m_intervalScale,
                                   .acksPerDecision = m_acksPerDecision,
                                   .solver = m_solver,
                                   .shortcut = m_shortcut});
    m_cost = m_computationTime.GetTimeStep();
    if (m_measureTime)
    {
        m_times = std::make_unique<DecisionTimes>();
    }
    Apply(flow, flow.Path().bdpBytes); // line rate (Zheng 2024, sec. 4.3)
}

bool
Mpcc::IsDue(const AckSample& ack)
{
    if (m_acksPerDecision == 0)
    {
        if (ack.now < m_nextDecision)
        {
            return false;
        }
        m_nextDecision = ack.now + ack.rtt;
        return true;
    }
    if (m_acksToSkip > 0)
    {
        --m_acksToSkip;
        return false;
    }
    m_acksToSkip = m_acksPerDecision - 1;
    return true;
}

double
Mpcc::Decide(const FlowState& flow, const AckSample& ack)
{
    const StateSwitch state = SelectStateSwitch(ack.hops, flow.Path(), m_bottleneck);
    MpccInput input = MakeMpccInput(flow, state);
    input.stateInputDelayNs += static_cast<double>(m_cost) / PS_PER_NS;
    if (!m_pending.empty())
    {
        input.windowBytes = m_pending.back().windowBytes;
    }
    const double window = m_control->Decide(input);
    m_stateHop.Set(static_cast<double>(state.hop + 1));
    Trace(input.bdpBytes);
    return window;
}

void
Mpcc::Trace(double bdpBytes)
{
    const MpccModel& model = m_control->LastModel();
    m_predictedQueueBytes.Set(model.q * bdpBytes);
    m_fairShareBytes.Set(model.fairShare * bdpBytes);
    const MpccCounters& counters = m_control->Counters();
    m_decisions.Set(counters.decisions);
    m_qpSolves.Set(counters.qp.solves);
    m_qpInfeasible.Set(counters.infeasible);
}

double
Mpcc::TimedDecide(const FlowState& flow, const AckSample& ack)
{
    const auto begin = std::chrono::steady_clock::now();
    const double window = Decide(flow, ack);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (m_times)
    {
        m_times->Add(took.count());
    }
    if (m_chargeMeasuredTime)
    {
        m_cost = m_computationTime.GetTimeStep() + static_cast<Picos>(took.count() * 1e6);
    }
    return window;
}

void
Mpcc::OnAck(FlowState& flow, const AckSample& ack)
{
    if (!IsDue(ack))
    {
        return;
    }
    const double window =
        m_measureTime || m_chargeMeasuredTime ? TimedDecide(flow, ack) : Decide(flow, ack);
    if (m_cost == 0 && m_pending.empty())
    {
        Apply(flow, window);
        return;
    }
    const Picos due = ack.now + m_cost;
    m_pending.push_back({m_pending.empty() ? due : std::max(due, m_pending.back().at), window});
    if (m_pending.size() == 1)
    {
        ScheduleNext(flow, ack.now);
    }
}

void
Mpcc::ScheduleNext(FlowState& flow, Picos now)
{
    m_effect =
        Simulator::Schedule(Time(m_pending.front().at - now), &Mpcc::ApplyPending, this, &flow);
}

void
Mpcc::ApplyPending(FlowState* flow)
{
    const Pending pending = m_pending.front();
    m_pending.pop_front();
    if (!m_pending.empty())
    {
        ScheduleNext(*flow, pending.at);
    }
    const double before = flow->WindowBytes();
    Apply(*flow, pending.windowBytes);
    if (flow->WindowBytes() != before)
    {
        flow->WindowAndRateWritten();
    }
}

void
Mpcc::OnFlowEnd(FlowState&, Picos)
{
    m_effect.Cancel();
    m_pending.clear();
}

std::vector<std::pair<std::string, double>>
Mpcc::GetCounters() const
{
    if (!m_control)
    {
        return {};
    }
    const MpccCounters& c = m_control->Counters();
    return {{"mpcc_decisions", static_cast<double>(c.decisions)},
            {"qp_solves", static_cast<double>(c.qp.solves)},
            {"qp_unconstrained", static_cast<double>(c.unconstrained)},
            {"qp_saturated", static_cast<double>(c.saturated)},
            {"qp_infeasible", static_cast<double>(c.infeasible)},
            {"qp_failures", static_cast<double>(c.qp.failures)},
            {"qp_working_set_changes", static_cast<double>(c.qp.workingSetChanges)}};
}

} // namespace ns3::env::rdma
