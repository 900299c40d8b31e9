// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of a flow's queue pair: window, pacing, recovery from losses, retransmission timeout.
#include "queue-pair.h"

#include "nic.h"

#include "ns3_env/cpp/rdma/switch/switch.h"

#include <algorithm>

namespace ns3::env::rdma
{

namespace
{
constexpr uint32_t MAX_BACKOFF = 6; // doublings of the retransmission timeout

Telemetry
TelemetryOf(const IntRequest& request)
{
    if (request.oneByte)
    {
        return Telemetry::OneByte;
    }
    if (!request.hopRecords)
    {
        return Telemetry::None;
    }
    return request.quantised ? Telemetry::Quantised : Telemetry::Exact;
}

} // namespace

QueuePair::QueuePair(const FlowSpec& spec, PathFacts path, Ptr<CongestionControl> control)
    : WireFlow(spec.trafficClass),
      m_controller(control),
      m_facts(std::move(path))
{
    const IntRequest request = control->GetIntRequestOf(spec.sizeBytes, m_facts);
    m_headerBytes = DATA_HEADER_BYTES + request.wireBytes;
    m_ackBytes = AckBytes(request.wireBytes);
    m_telemetry = TelemetryOf(request);
    m_tellsRemaining = request.shorterBacklog;
    m_facts.packetBytes = m_facts.payloadBytes + m_headerBytes;
    m_path = &m_facts;
    m_id = spec.id;
    m_sizeBytes = spec.sizeBytes;
    m_plainBytes = spec.sizeBytes;
    m_startTime = spec.start;
    m_pacing.SetPath(m_facts, m_facts.hostRateBps);
    if (request.everyRtts > 0 && m_telemetry != Telemetry::None)
    {
        const double every = request.everyRtts * static_cast<double>(m_facts.baseRtt);
        m_sparse = std::make_unique<SparseTelemetry>(
            SparseTelemetry{request.wireBytes, static_cast<Picos>(std::min(every, LONGEST_PS))});
        SetOption(SPARSE, true);
    }
}

void
QueuePair::SetPath(Nic& sender, Route forward, Route backward)
{
    m_sender = &sender;
    m_home = &sender.Network();
    m_forward = std::move(forward);
    m_backward = std::move(backward);
}

void
QueuePair::SetRecovery(const GoBackN& recovery)
{
    m_recovery = recovery;
    SetOption(KEEPS_PLACE, !recovery.skipsAcknowledged);
}

void
QueuePair::SetOpenLoop(double rateBps, Picos stop)
{
    constexpr uint32_t EVERY_HOP = UINT32_MAX;
    m_isOpenLoop = true;
    m_openLoop = std::make_unique<OpenLoop>(rateBps, m_facts.packetBytes, m_startTime, stop);
    m_pacing.SetRate(rateBps);
    m_pacing.TakeChange();     // a stream has no window or rate to report
    m_countedHops = EVERY_HOP; // no switch counts it any more
    m_options = 0;
    SetOption(STREAM, true); // without recovery or answers
    m_selective.reset();
    m_answers.reset();
    m_sparse.reset();
}

void
QueuePair::Start()
{
    const Picos now = NowPicos();
    m_pacing.HoldUntil(now);
    m_lastProgress = now;
    m_pauseAtStart = m_sender->HeldBackFor(*this, now);
    m_controller->OnFlowStart(*this);
    m_sender->AddFlow(*this);
    m_sender->TakeWindowAndRate(*this, now);
    if (!m_openLoop)
    {
        ArmTimer(Patience());
    }
    else if (m_openLoop->Stop() != NEVER)
    {
        Simulator::Schedule(Time(m_openLoop->Stop() - now), &QueuePair::StopStream, this);
    }
    m_sender->Kick();
}

void
QueuePair::StopStream()
{
    m_sender->RemoveFlow(*this);
}

void
QueuePair::Abort()
{
    m_timer.Cancel();
    ClosePauseAccount(NowPicos());
}

void
QueuePair::ClosePauseAccount(Picos now)
{
    m_pauseAtEnd = m_sender->HeldBackFor(*this, now);
}

Picos
QueuePair::PacedUntil() const
{
    if (m_isHeld || (m_options & SELECTIVE) != 0) [[unlikely]]
    {
        return m_isHeld                     ? NEVER
               : HasLost()                  ? m_pacing.PacedUntil(0)
               : m_sentBytes == m_sizeBytes ? NEVER
                                            : m_pacing.PacedUntil(InflightBytes());
    }
    return m_sentBytes == m_sizeBytes ? NEVER : m_pacing.PacedUntil(InflightBytes());
}

Picos
QueuePair::ReadyAt() const
{
    return m_sentBytes < m_plainBytes ? m_pacing.ReadyAt(InflightBytes()) : ReadyByOptions();
}

[[gnu::always_inline]] inline Packet*
QueuePair::MakePacket(NetworkContext& network, Picos now)
{
    Packet* p = network.pool.Allocate();
    const auto payload =
        static_cast<uint32_t>(std::min<uint64_t>(m_facts.payloadBytes, m_sizeBytes - m_sentBytes));
    p->flow = this;
    p->kind = PacketKind::Data;
    p->sequence = m_sentBytes;
    p->payloadBytes = payload;
    p->wireBytes = payload + m_headerBytes;
    p->egress = m_forward.data();
    p->telemetry = m_telemetry;
    p->tellsRemaining = m_tellsRemaining;
    p->sentAt = now;
    p->ecnCapable = !m_openLoop;
    p->ecnMarked = false;
    p->hop = 0;
    p->intHops = 0;

    m_sentBytes += payload;
    p->last = m_sentBytes == m_sizeBytes;
    const uint64_t fresh = m_sentBytes > m_highestSent ? m_sentBytes - m_highestSent : 0;
    m_retransmitted += payload - std::min<uint64_t>(fresh, payload);
    m_highestSent = std::max(m_highestSent, m_sentBytes);

    ++network.packetsSent;
    ++m_packetsOut;
    return p;
}

Packet*
QueuePair::NextPacket(NetworkContext& network, Picos now)
{
    if ((m_options & OF_PACKETS) != 0) [[unlikely]]
    {
        return NextPacketByOptions(network, now);
    }
    Packet* p = MakePacket(network, now);
    m_controller->OnPacketSent(*this, now, p->wireBytes);
    m_pacing.OnSent(p->wireBytes, now);
    return p;
}

Packet*
QueuePair::NextPacketByOptions(NetworkContext& network, Picos now)
{
    if (m_openLoop)
    {
        Packet* p = MakePacket(network, now);
        p->entropy = m_entropies ? m_entropies->Next() : 0;
        m_controller->OnPacketSent(*this, now, p->wireBytes);
        m_pacing.HoldUntil(m_openLoop->DueAt(m_sentBytes / m_facts.payloadBytes));
        return p;
    }
    const uint64_t next = m_sentBytes;
    const bool again = HasLost();
    if (again)
    {
        m_sentBytes = m_selective->sender.TakeLost(PacketsOf(next)) * m_facts.payloadBytes;
    }
    if (m_selective && m_sentBytes == m_ackedBytes)
    {
        m_lastProgress = now; // the packet that is waited for leaves only now
    }
    const bool repeats = again || m_sentBytes < m_highestSent;
    Packet* p = MakePacket(network, now);
    if (again)
    {
        m_sentBytes = next;
        p->last = next == m_sizeBytes;
    }
    if (m_entropies)
    {
        p->entropy = m_entropies->Next();
    }
    if (m_sparse)
    {
        TakeTelemetryOff(*p, now);
    }
    m_controller->OnPacketSent(*this, now, p->wireBytes);
    m_pacing.OnSent(p->wireBytes, now);
    if (m_answers)
    {
        AskForAck(*p, repeats);
    }
    return p;
}

void
QueuePair::OnFeedback(const Packet& packet, Picos now)
{
    if (IsFinished())
    {
        return; // a duplicate of a flow that is done
    }
    uint64_t newly = 0;
    if (packet.sequence > m_ackedBytes)
    {
        newly = packet.sequence - m_ackedBytes;
        m_ackedBytes = packet.sequence;
        if ((m_options & (SELECTIVE | KEEPS_PLACE)) == 0) [[likely]]
        {
            m_sentBytes = std::max(m_sentBytes, m_ackedBytes);
        }
        else if (m_selective)
        {
            m_selective->sender.OnAcked(PacketsOf(m_ackedBytes),
                                        PacketsOf(m_sentBytes),
                                        packet.sentAt);
        }
        m_lastProgress = now;
        m_backoff = 0;
    }
    if (packet.kind != PacketKind::Ack)
    {
        if (m_selective)
        {
            OnSelectiveAck(packet, now);
        }
        else
        {
            GoBack(m_ackedBytes, now);
            m_controller->OnNack(*this, now);
        }
    }
    AckSample ack;
    ack.now = now;
    ack.rtt = now - packet.sentAt;
    ack.ackedBytes = packet.sequence;
    ack.newlyAckedBytes = newly;
    ack.ecnMarked = packet.ecnMarked;
    ack.way = m_steered ? WayOf(packet, now) : 0;
    ack.hops = packet.IntRecords();
    ack.shorterBacklog = m_tellsRemaining && packet.intHops > 0
                             ? static_cast<Picos>(packet.shorterBacklogNs) * PS_PER_NS
                             : 0;
    m_controller->OnAck(*this, ack);
    if (m_ackedBytes == m_sizeBytes)
    {
        Finish(now);
    }
}

void
QueuePair::OnNotification(const Packet& packet, Picos now)
{
    if (IsFinished())
    {
        return;
    }
    const QueueFeedback& feedback = packet.feedback;
    m_controller->OnCongestionNotification(
        *this,
        {.now = now,
         .offsetBytes = static_cast<double>(feedback.offsetBytes),
         .deltaBytes = static_cast<double>(feedback.deltaBytes),
         .feedback = feedback.quantised,
         .congestionPoint = feedback.congestionPoint});
}

SwitchPort&
QueuePair::TowardsSource(uint8_t hop) const
{
    const Port& into = hop == 0 ? static_cast<const Port&>(*m_sender) : *m_forward[hop - 1];
    return static_cast<SwitchPort&>(into.Peer());
}

void
QueuePair::SetHeld(bool held)
{
    m_isHeld = held;
    UpdatePlainBytes();
    m_sender->TakeReadiness(*this);
}

void
QueuePair::WindowAndRateWritten()
{
    m_sender->TakeWindowAndRate(*this, NowPicos());
    m_sender->Kick();
}

void
QueuePair::Finish(Picos now)
{
    m_endTime = now;
    if (!m_recovery.acknowledgesDuplicates)
    {
        m_expected = 0;
        m_nackedGap = UINT64_MAX;
    }
    m_timer.Cancel();
    ClosePauseAccount(now);
    m_sender->RemoveFlow(*this);
    m_controller->OnFlowEnd(*this, now);
    ReportFinished();
}

void
QueuePair::GoBack(uint64_t sequence, Picos now)
{
    m_sentBytes = sequence;
    if (m_recovery.restartsPacing)
    {
        m_pacing.HoldUntil(now);
    }
}

void
QueuePair::ArmTimer(Picos delay)
{
    if (m_selective) // few packets may be in flight sooner than that
    {
        delay = std::min(delay, m_selective->config.rtoLow);
    }
    m_timer = Simulator::Schedule(Time(delay), &QueuePair::OnTimer, this);
}

void
QueuePair::OnTimer()
{
    const Picos now = NowPicos();
    const Picos patience = Patience();
    // A flow that has nothing in flight, or whose NIC is paused, is not waiting for an ACK.
    if (InflightBytes() == 0 || m_sender->HoldsBack(*this) ||
        (HasLost() && ReadyByOptions() != NEVER) || (m_recovery.knowsLosses && IsOnNetwork()))
    {
        m_lastProgress = now;
    }
    if (now - m_lastProgress < patience)
    {
        ArmTimer(m_lastProgress + patience - now);
        return;
    }
    ++m_timeouts;
    m_backoff = std::min(m_backoff + 1, MAX_BACKOFF);
    m_lastProgress = now;
    if (m_selective)
    {
        m_selective->sender.OnTimeout(PacketsOf(m_ackedBytes), PacketsOf(m_sentBytes), now);
    }
    else
    {
        GoBack(m_ackedBytes, now);
    }
    if (m_entropies)
    {
        m_entropies->OnLoss(now);
    }
    m_controller->OnTimeout(*this, now);
    m_sender->TakeWindowAndRate(*this, now);
    ArmTimer(Patience());
    m_sender->Kick();
}

} // namespace ns3::env::rdma
