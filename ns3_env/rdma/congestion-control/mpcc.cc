// SPDX-License-Identifier: GPL-2.0-or-later
// How does MPCC steer a flow? On every ACK, from the state switch's telemetry to the law's window.
#include "mpcc.h"

#include "state-switch.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Mpcc);

TypeId
Mpcc::GetTypeId()
{
    const MpccSettings defaults;
    static TypeId tid =
        TypeId("rdma::mpcc")
            .SetParent<CongestionControl>()
            .SetGroupName("Rdma")
            .AddConstructor<Mpcc>()
            .AddAttribute("WeightQueue",
                          "W_Q, the cost of the queue in BDPs, squared (Zheng 2024, eq. 4.5).",
                          DoubleValue(defaults.weightQueue),
                          MakeDoubleAccessor(&Mpcc::m_weightQueue),
                          MakeDoubleChecker<double>(1e-9, 1e9))
            .AddAttribute("WeightWindow",
                          "W_R, the cost of the window's distance from its fair share in BDPs, "
                          "squared.",
                          DoubleValue(defaults.weightWindow),
                          MakeDoubleAccessor(&Mpcc::m_weightWindow),
                          MakeDoubleChecker<double>(1e-9, 1e9))
            .AddAttribute("Horizon",
                          "P, steps predicted.",
                          IntegerValue(defaults.horizon),
                          MakeIntegerAccessor(&Mpcc::m_horizon),
                          MakeIntegerChecker<int>(1, 100))
            .AddAttribute("FloorPackets",
                          "Least window in packets; below one the flow is paced.",
                          DoubleValue(defaults.floorPackets),
                          MakeDoubleAccessor(&Mpcc::m_floorPackets),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("FloorShare",
                          "Least window as a share of the fair share.",
                          DoubleValue(defaults.floorShare),
                          MakeDoubleAccessor(&Mpcc::m_floorShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("DelayScale",
                          "Factor on the delay that is compensated; 0 for none.",
                          DoubleValue(defaults.delayScale),
                          MakeDoubleAccessor(&Mpcc::m_delayScale),
                          MakeDoubleChecker<double>(0.0, 100.0))
            .AddAttribute("IntervalScale",
                          "Factor on the model's interval (Zheng 2024, eq. A.1).",
                          DoubleValue(defaults.intervalScale),
                          MakeDoubleAccessor(&Mpcc::m_intervalScale),
                          MakeDoubleChecker<double>(1e-3, 1e3))
            .AddAttribute("Solver",
                          "Qp: qpOASES for every decision. ClosedForm: the same window, from the "
                          "closed form where it meets every constraint. Lqr: the closed form, "
                          "clipped.",
                          EnumValue(MpccSolver::Qp),
                          MakeEnumAccessor<MpccSolver>(&Mpcc::m_solver),
                          MakeEnumChecker(MpccSolver::Qp,
                                          "Qp",
                                          MpccSolver::ClosedForm,
                                          "ClosedForm",
                                          MpccSolver::Lqr,
                                          "Lqr"))
            .AddAttribute("Pacing",
                          "Send at W / base RTT, as the model assumes (Zheng 2024, eq. 3.3: R_in "
                          "is linear in W); otherwise at line rate while the window allows.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Mpcc::m_pacing),
                          MakeBooleanChecker());
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

TelemetryHeader
Mpcc::GetTelemetryHeader() const
{
    // 5 hops of Q (32 bit) and N (16 bit), and n_hop (16 bit): 32 B (Zheng 2024, Fig. 5.1)
    return {.wireBytes = 32, .hopRecords = true, .quantised = false};
}

double
Mpcc::GetWindowFloor(const FlowState& flow) const
{
    return m_floorPackets * flow.Path().packetBytes;
}

void
Mpcc::Apply(FlowState& flow, double windowBytes) const
{
    flow.SetWindow(windowBytes);
    if (m_pacing)
    {
        flow.SetRate(flow.Path().hostRateBps * windowBytes / flow.Path().bdpBytes);
    }
}

void
Mpcc::OnFlowStart(FlowState& flow)
{
    m_law.emplace(MpccSettings{.horizon = m_horizon,
                               .weightQueue = m_weightQueue,
                               .weightWindow = m_weightWindow,
                               .floorPackets = m_floorPackets,
                               .floorShare = m_floorShare,
                               .delayScale = m_delayScale,
                               .intervalScale = m_intervalScale,
                               .solver = m_solver});
    Apply(flow, flow.Path().bdpBytes); // line rate (Zheng 2024, sec. 4.3)
}

void
Mpcc::OnAck(FlowState& flow, const AckSample& ack)
{
    const StateSwitch state = SelectStateSwitch(ack.hops, flow.Path());
    Apply(flow, m_law->Decide(MakeMpccInput(flow, state)));
}

std::vector<std::pair<std::string, double>>
Mpcc::GetCounters() const
{
    if (!m_law)
    {
        return {};
    }
    const MpccCounters& c = m_law->Counters();
    return {{"mpcc_decisions", static_cast<double>(c.decisions)},
            {"qp_solves", static_cast<double>(c.solves)},
            {"qp_closed_form", static_cast<double>(c.closedForm)},
            {"qp_infeasible", static_cast<double>(c.infeasible)},
            {"qp_failures", static_cast<double>(c.failures)},
            {"qp_working_set_changes", static_cast<double>(c.workingSetChanges)}};
}

} // namespace ns3::rdma
