// SPDX-License-Identifier: GPL-2.0-or-later
// Base of the controllers under a policy, which hold their flow until a decision has come.
#include "deciding-controller.h"

#include "decision-broker.h"

#include "ns3/boolean.h"

#include <algorithm>

namespace ns3::env
{

namespace
{
/// A policy may go below the minimum rate, as windows under one packet need, but never stop a flow for good.
constexpr double LEAST_RATE_SHARE = 0.01;
} // namespace

NS_OBJECT_ENSURE_REGISTERED(DecidingController);

TypeId
DecidingController::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::DecidingController")
            .SetParent<CongestionControl>()
            .SetGroupName("Rdma")
            .AddAttribute("Quantised",
                          "Round telemetry to HPCC's header units.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&DecidingController::m_quantised),
                          MakeBooleanChecker())
            .AddAttribute("InitialWindow",
                          "Start with a window of one BDP (Zhang 2023, sec. 4.2); otherwise none.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&DecidingController::m_initialWindow),
                          MakeBooleanChecker());
    return tid;
}

void
DecidingController::Connect(DecisionBroker& broker,
                            Flow& flow,
                            int32_t slot,
                            const ClockSpec& clock,
                            bool inBandTelemetry)
{
    m_broker = &broker;
    m_flow = &flow;
    m_slot = slot;
    m_clock = clock;
    m_inBandTelemetry = inBandTelemetry;
}

void
DecidingController::OnFlowStart(FlowState& flow)
{
    if (m_initialWindow)
    {
        flow.SetWindow(flow.Path().bdpBytes);
    }
}

void
DecidingController::OnAck(FlowState& flow, const AckSample& ack)
{
    m_observation.OnAck(ack);
    const bool done = flow.AckedBytes() == flow.SizeBytes();
    if (m_clock.rttFraction && !done && ack.now >= m_nextDecision)
    {
        m_nextDecision = ack.now + static_cast<Picos>(
                                       std::min(*m_clock.rttFraction * static_cast<double>(ack.rtt),
                                                LONGEST_PS));
        Decide(ack.now);
    }
}

void
DecidingController::OnCongestionNotification(FlowState&, const CongestionNotification& frame)
{
    m_observation.OnNotification(frame);
    if (m_clock.onNotification)
    {
        Decide(frame.now);
    }
}

void
DecidingController::Decide(Picos now)
{
    if (m_waiting)
    {
        return;
    }
    m_waiting = true;
    m_flow->SetHeld(true);
    m_broker->RequestDecision(*this, now);
}

void
DecidingController::OnFlowEnd(FlowState&, Picos now)
{
    m_broker->ReportEnd(*this, ROW_TERMINATED, now);
}

void
DecidingController::OnCut(Picos now)
{
    m_broker->ReportEnd(*this, ROW_TRUNCATED, now);
}

DecisionRow
DecidingController::MakeRow(Picos now)
{
    DecisionRow row;
    row.flow = m_flow->Id();
    row.slot = m_slot;
    row.flags = m_decided ? 0U : static_cast<uint32_t>(ROW_FIRST);
    row.record = m_observation.Take(*m_flow, now, m_lastAction);
    if (!m_inBandTelemetry)
    {
        row.record.ForgetSwitches();
    }
    m_decided = true;
    return row;
}

void
DecidingController::Apply(const ActionRow& action)
{
    m_waiting = false;
    m_lastAction = action.echo;
    const PathFacts& path = m_flow->Path();
    const double leastRate = path.minRateBps * LEAST_RATE_SHARE;
    // A window below one packet is a packet now and then: this one's is at the least rate.
    const double leastWindow =
        leastRate * static_cast<double>(path.baseRtt) / (8.0 * static_cast<double>(PS_PER_SECOND));
    m_flow->SetWindow(std::max(action.windowBytes, leastWindow));
    m_flow->SetRate(std::clamp(action.rateBps, leastRate, path.hostRateBps));
    m_flow->SetHeld(false);
    m_flow->WindowAndRateWritten();
}

} // namespace ns3::env
