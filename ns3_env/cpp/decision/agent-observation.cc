// SPDX-License-Identifier: GPL-2.0-or-later
// Observation of one flow by its agent: feedback of its ACKs since the last decision.
#include "agent-observation.h"

#include "ns3_env/cpp/contract/int-record.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

constexpr double BITS = 8.0;
constexpr double PS_PER_MS = 1e9;

/// Bits per second of `bytes` in `duration`; 0 if no time passed.
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
    m_shorterBacklog = ack.shorterBacklog;
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
AgentObservation::FairShare(const FlowState& flow) const
{
    if (m_hopCount == 0)
    {
        return 0.0;
    }
    double share = flow.Path().hostRateBps;
    for (uint8_t i = 0; i < m_hopCount; ++i)
    {
        const double flows = std::max(static_cast<double>(m_hops[i].flows), 1.0);
        share = std::min(share, static_cast<double>(m_hops[i].rateBps) / flows);
    }
    return share / flow.Path().hostRateBps;
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
AgentObservation::Take(const Flow& flow, Picos now, double lastAction, Bottleneck rule)
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
    r[Field::FairShare] = FairShare(flow);
    r[Field::ShorterBacklog] =
        static_cast<double>(m_shorterBacklog) / static_cast<double>(path.baseRtt);
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
    r[Field::PayloadBytes] = path.payloadBytes;
    r[Field::InflightBytes] = static_cast<double>(flow.InflightBytes());
    r[Field::AckedBytes] = static_cast<double>(m_acked);

    const StateSwitch state = SelectStateSwitch({m_hops.data(), m_hopCount}, path, rule);
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

} // namespace ns3::env
