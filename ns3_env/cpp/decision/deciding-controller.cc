// SPDX-License-Identifier: GPL-2.0-or-later
// Base of the controllers under a policy, which pause their flow until a decision arrives.
#include "deciding-controller.h"

#include "decision-broker.h"
#include "flow-costs.h"
#include "job-costs.h"
#include "sharing-gains.h"

#include "ns3/enum.h"
#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/json/bounds.h"

#include <algorithm>
#include <utility>

namespace ns3::env
{

NS_OBJECT_ENSURE_REGISTERED(DecidingController);

TypeId
DecidingController::GetTypeId()
{
    static TypeId tid =
        Declaration<DecidingController>("rdma::DecidingController")
            .Flag("Quantised",
                  "Round telemetry to HPCC's header units.",
                  &DecidingController::m_quantised,
                  false)
            .Flag("InitialWindow",
                  "Start with a window of one BDP (Zhang 2023, sec. 4.2); otherwise none.",
                  &DecidingController::m_initialWindow,
                  true)
            .Add("Bottleneck",
                 "Whose queue the fields state_* are of, as controller mpcc has it.",
                 EnumValue(Bottleneck::LongestQueue),
                 MakeEnumAccessor<Bottleneck>(&DecidingController::m_bottleneck),
                 MakeEnumChecker(Bottleneck::LongestQueue,
                                 "LongestQueue",
                                 Bottleneck::LongestDrain,
                                 "LongestDrain"))
            .Number(
                "DecidesFromBdps",
                "Flows of at most so many BDPs leave at line rate without a window, carry no "
                "telemetry and are not decided for; -1: as the policy's file says, of an agent 0.",
                &DecidingController::m_decidesFromBdps,
                {-1.0, -1.0, bounds::BDPS})
            .Number("TelemetryFromBdps",
                    "Flows of at most so many BDPs carry no telemetry; -1: as the policy's file "
                    "says, of an agent 0.",
                    &DecidingController::m_telemetryFromBdps,
                    {-1.0, -1.0, bounds::BDPS})
            .Number("TelemetryEveryRtts",
                    "Of other flows, packets that leave so many base RTTs after the last that did "
                    "carry telemetry; 0: all; -1: as the policy's file says, of an agent all.",
                    &DecidingController::m_telemetryEveryRtts,
                    {-1.0, -1.0, bounds::RTTS})
            .Number("FairnessWeight",
                    "Weight of fairness against completion times, of the field fairness_weight: a "
                    "wish told to the policy.",
                    &DecidingController::m_fairnessWeight,
                    {0.0, 0.0, 1.0})
            .Flag("JobCost",
                  "Tell what a flow costs as one of its training job's.",
                  &DecidingController::m_jobCost,
                  false)
            .Flag("ShorterBacklog",
                  "Ask switches what shorter flows have left, for the field shorter_backlog.",
                  &DecidingController::m_shorterBacklog,
                  false)
            .Flag("SharingGain",
                  "Tell what the flows at a flow's link gain on processor sharing; takes time with "
                  "many flows.",
                  &DecidingController::m_sharingGain,
                  false);
    return tid;
}

void
DecidingController::Connect(DecisionBroker& broker,
                            Flow& flow,
                            const FlowEntry& entry,
                            const ClockSpec& clock,
                            bool inBandTelemetry,
                            SharingGains& gains,
                            JobCosts& jobs)
{
    m_broker = &broker;
    m_flow = &flow;
    m_slot = entry.slot;
    m_host = entry.flow.source;
    m_undecided = static_cast<double>(flow.SizeBytes()) <= DecidesFromBdps() * flow.Path().bdpBytes;
    m_clock = m_undecided ? ClockSpec{} : clock;
    m_inBandTelemetry = inBandTelemetry;
    m_withoutTelemetry = IsWithoutTelemetry(flow.SizeBytes(), flow.Path());
    m_detour = !m_withoutTelemetry && TelemetryEveryRtts() > 0;
    m_gains = &gains;
    m_jobs = &jobs;
    m_chargedUntil = flow.StartTime();
}

bool
DecidingController::IsWithoutTelemetry(uint64_t sizeBytes, const PathFacts& path) const
{
    const double most = std::max(TelemetryFromBdps(), DecidesFromBdps());
    return static_cast<double>(sizeBytes) <= most * path.bdpBytes;
}

IntRequest
DecidingController::GetIntRequestOf(uint64_t sizeBytes, const PathFacts& path) const
{
    if (IsWithoutTelemetry(sizeBytes, path))
    {
        return {};
    }
    IntRequest request = GetIntRequest();
    request.shorterBacklog |= m_shorterBacklog;
    request.everyRtts = std::max(TelemetryEveryRtts(), 0.0);
    return request;
}

void
DecidingController::OnFlowStart(FlowState& flow)
{
    if (m_undecided)
    {
        flow.SetWindow(FlowState::NO_WINDOW);
        return;
    }
    if (m_initialWindow)
    {
        flow.SetWindow(flow.Path().bdpBytes);
    }
    if (m_clock.startBdps > 0)
    {
        flow.SetWindow(m_clock.startBdps * flow.Path().bdpBytes);
    }
    DecideAtStart();
}

void
DecidingController::DecideAtStart()
{
    if (m_clock.startBdps > 0)
    {
        Decide(m_flow->StartTime());
        m_observation.ForgetTaking();
    }
}

void
DecidingController::OnAck(FlowState& flow, const AckSample& ack)
{
    if (m_detour) [[unlikely]]
    {
        if (m_successor)
        {
            m_successor->OnAck(flow, ack);
            return;
        }
        m_hadRecords = m_hadRecords || !ack.hops.empty();
        if (m_hadRecords && ack.hops.empty())
        {
            m_observation.OnBareAck(ack);
            return; // a decision waits for a packet's telemetry
        }
    }
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
    if (m_waiting || m_successor || m_undecided)
    {
        return;
    }
    m_waiting = true;
    m_flow->SetHeld(true);
    m_broker->RequestDecision(*this, now);
}

void
DecidingController::OnNack(FlowState& flow, Picos now)
{
    ConsiderLoss(now);
    if (m_successor)
    {
        m_successor->OnNack(flow, now);
    }
}

void
DecidingController::OnTimeout(FlowState& flow, Picos now)
{
    ConsiderLoss(now);
    if (m_successor)
    {
        m_successor->OnTimeout(flow, now);
    }
}

void
DecidingController::ConsiderLoss(Picos now)
{
    if (!m_waiting && !m_successor)
    {
        OnLoss(now);
    }
}

ActionRow
DecidingController::HandOver(Ptr<CongestionControl> successor, Picos now)
{
    m_successor = std::move(successor);
    m_detour = true;
    m_successor->OnTakeOver(*m_flow, now);
    return {m_flow->WindowBytes(), m_flow->RateBps(), m_lastAction};
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

void
DecidingController::WriteCosts(DecisionRow& row, Picos now)
{
    const Picos ideal = m_flow->Standalone();
    if (ideal <= 0)
    {
        return; // endless
    }
    const bool cut = (row.flags & ROW_TRUNCATED) != 0;
    const double left = ShareLeft(*m_flow);
    const auto inIdeals = [ideal](Picos time)
    { return static_cast<double>(time) / static_cast<double>(ideal); };
    row.record[Field::Slowdown] = inIdeals(now - m_flow->StartTime()) + left;
    const bool ends = (row.flags & (ROW_TERMINATED | ROW_TRUNCATED)) != 0;
    // No decision is paid by a flow's first row; the next one has its cost.
    if ((row.flags & ROW_FIRST) == 0 || ends)
    {
        row.record[Field::Cost] = inIdeals(now - m_chargedUntil) + (cut ? left : 0.0);
        row.record[Field::SharingGain] = m_sharingGain ? m_gains->Take(m_flow->Id(), now) : 0.0;
        row.record[Field::JobCost] = m_jobCost ? m_jobs->Take(m_flow->Id(), now) : 0.0;
        m_chargedUntil = now;
    }
}

DecisionRow
DecidingController::MakeRow(Picos now, uint32_t end)
{
    DecisionRow row;
    row.flow = m_flow->Id();
    row.slot = m_slot;
    row.flags = end | (m_decided ? 0U : static_cast<uint32_t>(ROW_FIRST));
    row.record = m_observation.Take(*m_flow, now, m_lastAction, m_bottleneck);
    row.record[Field::FairnessWeight] = m_fairnessWeight;
    WriteCosts(row, now);
    if (!m_inBandTelemetry)
    {
        row.record.ForgetSwitches();
    }
    if (m_withoutTelemetry)
    {
        row.record.ClearTelemetry();
    }
    m_decided = true;
    return row;
}

void
DecidingController::Apply(const ActionRow& action)
{
    const PathFacts& path = m_flow->Path();
    m_flow->SetWindow(std::max(action.windowBytes, LeastWindow(path)));
    m_flow->SetRateAndRepace(
        std::clamp(action.rateBps, path.minRateBps * LEAST_RATE_SHARE, path.hostRateBps));
    Resume(action.echo);
}

double
DecidingController::LeastWindow(const PathFacts& path)
{
    const double leastRate = path.minRateBps * LEAST_RATE_SHARE;
    return leastRate * static_cast<double>(path.baseRtt) /
           (8.0 * static_cast<double>(PS_PER_SECOND));
}

void
DecidingController::Resume(double echo)
{
    m_waiting = false;
    m_decisions++;
    m_lastAction = echo;
    m_flow->SetHeld(false);
    m_flow->WindowAndRateWritten();
}

} // namespace ns3::env
