// SPDX-License-Identifier: GPL-2.0-or-later
// Base of the controllers under a policy, which hold their flow until a decision has come.
#include "deciding-controller.h"

#include "decision-broker.h"
#include "flow-costs.h"
#include "job-costs.h"
#include "sharing-gains.h"
#include "team-costs.h"

#include "ns3_env/cpp/contract/bottleneck-hop.h"
#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/contract/int-record.h"
#include "ns3_env/cpp/json/bounds.h"

#include <algorithm>
#include <utility>

namespace ns3::env
{

namespace
{

constexpr double BITS = 8.0;
constexpr double PS_PER_MS = 1e9;

/// Bits per second of `bytes` in `duration`; 0 where no time passed.
double
Rate(double bytes, Picos duration)
{
    return duration > 0 ? bytes * BITS * PS_PER_SECOND / static_cast<double>(duration) : 0.0;
}

} // namespace

void
AgentObservation::OnAck(const AckSample& ack)
{
    m_rtt = ack.rtt;
    ++m_acks;
    m_marks += ack.ecnMarked ? 1 : 0;
    m_acked += ack.newlyAckedBytes;
    if (ack.way != m_way) [[unlikely]]
    {
        ChangeWay(ack.way);
    }
    m_hopCount = static_cast<uint8_t>(ack.hops.size());
    std::copy(ack.hops.begin(), ack.hops.end(), m_hops.begin());
    if (!m_haveBefore)
    {
        m_hopsBefore = m_hops;
        m_haveBefore = true;
    }
}

void
AgentObservation::OnBareAck(const AckSample& ack)
{
    ++m_acks;
    m_marks += ack.ecnMarked ? 1 : 0;
    m_acked += ack.newlyAckedBytes;
}

void
AgentObservation::ChangeWay(uint32_t way)
{
    m_otherWays[m_way] = m_hopsBefore;
    const auto known = m_otherWays.find(way);
    m_haveBefore = known != m_otherWays.end();
    if (m_haveBefore)
    {
        m_hopsBefore = known->second;
    }
    m_way = way;
}

void
AgentObservation::OnNotification(const CongestionNotification& frame)
{
    m_notified = frame;
    ++m_notifications;
}

void
AgentObservation::WriteNotified(ObservationRecord& r, const PathFacts& path, Picos now) const
{
    r[Field::Notifications] = static_cast<double>(m_notifications);
    if (!m_notified)
    {
        return;
    }
    const auto base = static_cast<double>(path.baseRtt);
    r[Field::NotifiedOffset] = m_notified->offsetBytes / path.bdpBytes;
    r[Field::NotifiedDelta] = m_notified->deltaBytes / path.bdpBytes;
    r[Field::NotifiedFeedback] = m_notified->feedback / static_cast<double>(QueueFeedback::MOST);
    r[Field::NotificationRecency] = base / (base + static_cast<double>(now - m_notified->now));
}

AgentObservation::Congestion
AgentObservation::MostCongested(const FlowState& flow) const
{
    // The hop with the largest SWITCHRATE + QLEN (Zhang 2023, sec. 4.2).
    Congestion worst;
    double worstSum = -1;
    const double baseSeconds = static_cast<double>(flow.Path().baseRtt) / PS_PER_SECOND;
    for (uint8_t i = 0; i < m_hopCount; ++i)
    {
        const IntRecord& hop = m_hops[i];
        const IntRecord& before = m_hopsBefore[i];
        const auto rate = static_cast<double>(hop.rateBps);
        Congestion c;
        c.rateBps = rate;
        c.flows = hop.flows;
        c.queue = hop.queueBytes * BITS / (rate * baseSeconds);
        c.switchRate = Rate(static_cast<double>(hop.txBytes - before.txBytes),
                            (hop.timeNs - before.timeNs) * PS_PER_NS) /
                       rate;
        if (c.queue + c.switchRate > worstSum)
        {
            worstSum = c.queue + c.switchRate;
            worst = c;
        }
    }
    return worst;
}

double
AgentObservation::TakeRepeated(const Flow& flow)
{
    const auto sent = static_cast<double>(flow.TransmittedBytes() - m_sent);
    const auto repeated = static_cast<double>(flow.RetransmittedBytes() - m_repeated);
    m_sent = flow.TransmittedBytes();
    m_repeated = flow.RetransmittedBytes();
    return sent > 0 ? repeated / sent : 0.0;
}

ObservationRecord
AgentObservation::Take(const Flow& flow, Picos now, double lastAction)
{
    const PathFacts& path = flow.Path();
    const Picos since = m_since < 0 ? flow.StartTime() : m_since;
    const Picos interval = now - since;
    const Congestion worst = MostCongested(flow);
    const double rtt = static_cast<double>(m_rtt) / static_cast<double>(path.baseRtt);
    const double intervalMs = static_cast<double>(interval) / PS_PER_MS;
    const bool hasSlope = m_since >= 0 && interval > 0;

    ObservationRecord r;
    r[Field::Rtt] = rtt;
    r[Field::Qlen] = worst.queue;
    r[Field::SwitchRate] = worst.switchRate;
    const double goodput = Rate(static_cast<double>(m_acked), interval);
    // The receiver's link is the path's last hop.
    r[Field::Goodput] = path.hops.empty() ? 0.0 : goodput / path.hops.back().rateBps;
    r[Field::RttSlope] = hasSlope ? (rtt - m_rttBefore) / intervalMs : 0.0;
    r[Field::QlenSlope] = hasSlope ? (worst.queue - m_queueBefore) / intervalMs : 0.0;
    r[Field::PacingRate] = flow.RateBps() / path.hostRateBps;
    r[Field::LastAction] = lastAction;
    // In wire bytes, so that a fair share of 1/N can be reached.
    const double wire = goodput * path.packetBytes / path.payloadBytes;
    r[Field::Throughput] = worst.rateBps > 0 ? wire / worst.rateBps : 0.0;
    r[Field::FlowCount] = worst.flows;
    r[Field::EcnFraction] =
        m_acks > 0 ? static_cast<double>(m_marks) / static_cast<double>(m_acks) : 0.0;
    r[Field::RepeatedFraction] = TakeRepeated(flow);
    r[Field::Attained] = static_cast<double>(flow.AckedBytes()) / path.bdpBytes;
    r[Field::Remaining] = static_cast<double>(flow.SizeBytes() - flow.AckedBytes()) / path.bdpBytes;

    WriteNotified(r, path, now);
    r[Field::WindowBytes] = std::min(flow.WindowBytes(), 1e12);
    r[Field::RateBps] = flow.RateBps();
    r[Field::RttNs] = static_cast<double>(m_rtt) / PS_PER_NS;
    r[Field::BaseRttNs] = static_cast<double>(path.baseRtt) / PS_PER_NS;
    r[Field::HostRateBps] = path.hostRateBps;
    r[Field::BdpBytes] = path.bdpBytes;
    r[Field::PacketBytes] = path.packetBytes;
    r[Field::InflightBytes] = static_cast<double>(flow.InflightBytes());
    r[Field::AckedBytes] = static_cast<double>(m_acked);

    const StateSwitch state = SelectStateSwitch({m_hops.data(), m_hopCount}, path);
    r[Field::StateQueueBytes] = state.queueBytes;
    r[Field::StateFlows] = state.flows;
    r[Field::StateRateBps] = state.rateBps;
    r[Field::StateInputDelayNs] = state.inputDelayNs;
    r[Field::StateFeedbackDelayNs] = state.feedbackDelayNs;
    r[Field::TimeNs] = static_cast<double>(now) / PS_PER_NS;
    r[Field::IntervalNs] = static_cast<double>(interval) / PS_PER_NS;
    r.Clip();

    m_since = now;
    m_rttBefore = rtt;
    m_queueBefore = worst.queue;
    m_hopsBefore = m_hops;
    m_acks = 0;
    m_marks = 0;
    m_acked = 0;
    m_notifications = 0;
    return r;
}

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
            .Number("DecidesFromBdps",
                    "Flows of at most so many BDPs leave at line rate without a window, carry no "
                    "telemetry and are not decided for; -1: as the policy's file says, of an agent "
                    "0.",
                    &DecidingController::m_decidesFromBdps,
                    {-1.0, -1.0, bounds::BDPS})
            .Number(
                "TelemetryFromBdps",
                "Flows of at most so many BDPs carry no telemetry; -1: as the policy's file says, "
                "of an agent 0.",
                &DecidingController::m_telemetryFromBdps,
                {-1.0, -1.0, bounds::BDPS})
            .Number("TelemetryEveryRtts",
                    "Of other flows, packets that leave so many base RTTs after the last that did "
                    "carry telemetry; 0: all; -1: as the policy's file says, of an agent all.",
                    &DecidingController::m_telemetryEveryRtts,
                    {-1.0, -1.0, bounds::RTTS})
            .Flag("TeamCost",
                  "Tell what the flows that share a hop cost together; takes time with many flows.",
                  &DecidingController::m_teamCost,
                  false)
            .Flag("JobCost",
                  "Tell what a flow costs as one of its training job's.",
                  &DecidingController::m_jobCost,
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
                            int32_t slot,
                            const ClockSpec& clock,
                            bool inBandTelemetry,
                            TeamCosts& team,
                            SharingGains& gains,
                            JobCosts& jobs)
{
    m_broker = &broker;
    m_flow = &flow;
    m_slot = slot;
    m_undecided = static_cast<double>(flow.SizeBytes()) <= DecidesFromBdps() * flow.Path().bdpBytes;
    m_clock = m_undecided ? ClockSpec{} : clock;
    m_inBandTelemetry = inBandTelemetry;
    m_withoutTelemetry = IsWithoutTelemetry(flow.SizeBytes(), flow.Path());
    m_detour = !m_withoutTelemetry && TelemetryEveryRtts() > 0;
    m_team = &team;
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
            return; // a decision waits for what a packet tells
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
        row.record[Field::TeamCost] = m_teamCost ? m_team->Take(m_flow->Id(), now) : 0.0;
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
    row.record = m_observation.Take(*m_flow, now, m_lastAction);
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
    m_flow->SetRate(
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
