// SPDX-License-Identifier: GPL-2.0-or-later
// Options of some queue pairs: selective repeat, answers that are late or for several packets.
#include "nic.h"
#include "queue-pair.h"

#include "ns3_env/cpp/rdma/switch/switch.h"

#include <algorithm>

namespace ns3::env::rdma
{

void
QueuePair::RepeatSelectively(const SelectiveRepeatConfig& config, double capBytes)
{
    m_selective = std::make_unique<Selective>(
        Selective{config, capBytes, SelectiveSender(config.reorderPackets), {}});
    SetOption(SELECTIVE, true);
}

void
QueuePair::AwaitDelivery(DeliveryListener& listener)
{
    m_awaiting = &listener;
    SetOption(AWAITED, true);
}

void
QueuePair::SetNic(const NicConfig& config)
{
    m_answers = std::make_unique<Answers>(Answers{.config = config});
    SetOption(OWN_ANSWERS, true);
}

void
QueuePair::RecycleEntropies(const RecycledEntropies& entropies)
{
    m_entropies = std::make_unique<RecycledEntropies>(entropies);
    SetOption(ENTROPIES, true);
}

uint32_t
QueuePair::WayOf(const Packet& packet, Picos now)
{
    if (m_entropies)
    {
        m_entropies->OnAck(packet.entropy, packet.ecnMarked, now);
    }
    return packet.way;
}

Picos
QueuePair::Patience() const
{
    if (!m_selective)
    {
        return m_timeout << m_backoff;
    }
    const uint64_t unknown =
        PacketsOf(m_sentBytes) - PacketsOf(m_ackedBytes) - m_selective->sender.SelectivelyAcked();
    const bool few = unknown <= m_selective->config.rtoLowPackets;
    return (few ? std::min(m_selective->config.rtoLow, m_timeout) : m_timeout) << m_backoff;
}

bool
QueuePair::IsFull() const
{
    const uint64_t inflight = InflightBytes();
    const bool capped = m_selective && static_cast<double>(inflight) >= m_selective->capBytes;
    return capped || m_pacing.ReadyAt(inflight) == NEVER;
}

/// Bytes in flight that a window counts before a packet leaves again: 0 unless some are trimmed, which says that the
/// window is too large.
uint64_t
QueuePair::BesideTrimmed() const
{
    const SelectiveSender& sender = m_selective->sender;
    const uint64_t gone = (sender.Trimmed() + sender.SelectivelyAcked()) * m_facts.payloadBytes;
    const uint64_t inflight = InflightBytes();
    return sender.Trimmed() == 0 || gone >= inflight ? 0 : inflight - gone;
}

Picos
QueuePair::ReadyByOptions() const
{
    if (m_isHeld)
    {
        return NEVER;
    }
    if (HasLost()) // it replaces a packet that is no longer in flight
    {
        return m_pacing.ReadyAt(BesideTrimmed());
    }
    if (m_sentBytes == m_sizeBytes)
    {
        return NEVER;
    }
    if (!IsFull())
    {
        return m_pacing.ReadyAt(InflightBytes());
    }
    // The window has closed on packets none of which asked for an ACK: one more is sent, which does.
    const bool unasked = m_answers && m_answers->config.ackEvery > 1 && InflightBytes() > 0 &&
                         m_answers->askedTo <= m_ackedBytes;
    return unasked ? m_pacing.PacedUntil(0) : NEVER;
}

void
QueuePair::AskForAck(Packet& packet, bool again)
{
    Answers& own = *m_answers;
    ++own.unasked;
    const bool awaited = m_sparse && packet.telemetry != Telemetry::None;
    packet.ackRequested =
        again || awaited || packet.last || own.unasked >= own.config.ackEvery || IsFull();
    if (packet.ackRequested)
    {
        own.unasked = 0;
        own.askedTo = packet.sequence + packet.payloadBytes;
    }
}

void
QueuePair::TakeTelemetryOff(Packet& packet, Picos now)
{
    if (now < m_sparse->nextAt)
    {
        packet.telemetry = Telemetry::None;
        packet.wireBytes -= m_sparse->wireBytes;
        return;
    }
    m_sparse->nextAt = now + m_sparse->every;
}

bool
QueuePair::IsAnsweredSelectively(Packet& packet, PacketKind& answer)
{
    uint64_t expected = PacketsOf(m_expected);
    const uint64_t number = packet.sequence / m_facts.payloadBytes;
    if (packet.kind == PacketKind::Trimmed)
    {
        packet.answered = packet.sequence;
        answer = m_selective->receiver.Has(number, expected) ? answer : PacketKind::TrimNack;
        return true;
    }
    switch (m_selective->receiver.OnData(number, expected))
    {
    case SelectiveReceiver::Arrival::Expected:
        m_expected = std::min(m_sizeBytes, expected * m_facts.payloadBytes);
        break;
    case SelectiveReceiver::Arrival::OutOfOrder:
        ++m_outOfOrder;
        packet.answered = packet.sequence;
        answer = PacketKind::Nack;
        break;
    case SelectiveReceiver::Arrival::Duplicate:
        m_duplicates += packet.payloadBytes;
        break;
    }
    return true;
}

Answer
QueuePair::AnswerByCard(Packet& packet, PacketKind answer, bool maySkip)
{
    Answers& own = *m_answers;
    if (own.config.cnpDelay > 0 && packet.ecnMarked)
    {
        packet.ecnMarked = false;
        SendCnp(packet.sentAt);
    }
    own.owesMark = own.owesMark || packet.ecnMarked;
    if (maySkip)
    {
        return Answer::None;
    }
    packet.ecnMarked = own.owesMark;
    own.owesMark = false;
    TurnAround(packet, answer);
    if (own.config.ackDelay == 0)
    {
        return Answer::Now;
    }
    Simulator::Schedule(Time(own.config.ackDelay),
                        [card = &Receiver(), packet = &packet] { card->Send(packet); });
    return Answer::Later;
}

Nic&
QueuePair::Receiver() const
{
    const Port& last = m_forward.empty() ? static_cast<const Port&>(*m_sender) : *m_forward.back();
    return static_cast<Nic&>(last.Peer());
}

void
QueuePair::SendCnp(Picos sentAt)
{
    Receiver().Network().CountPacket(*this, 1);
    const Picos delay = m_answers->config.cnpDelay;
    Simulator::Schedule(Time(delay),
                        [this, sentAt = sentAt + delay] // the RTT that it reports is the packet's
                        {
                            Nic& card = Receiver();
                            Packet* cnp = card.Network().pool.Allocate();
                            cnp->flow = this;
                            cnp->sentAt = sentAt;
                            cnp->ecnMarked = true;
                            cnp->ecnCapable = false;
                            cnp->last = false;
                            cnp->telemetry = Telemetry::None;
                            cnp->intHops = 0;
                            cnp->entropy = 0;
                            TurnAround(*cnp, PacketKind::Ack);
                            card.Send(cnp);
                        });
}

void
QueuePair::OnSelectiveAck(const Packet& packet, Picos now)
{
    if (packet.kind == PacketKind::TrimNack)
    {
        OnTrimNack(packet, now);
        return;
    }
    const uint64_t number = packet.answered / m_facts.payloadBytes;
    if (m_selective->sender.OnSelectivelyAcked(number,
                                               PacketsOf(m_ackedBytes),
                                               PacketsOf(m_sentBytes),
                                               packet.sentAt))
    {
        if (m_entropies)
        {
            m_entropies->OnLoss(now);
        }
        m_controller->OnNack(*this, now); // once in a recovery
    }
}

void
QueuePair::OnTrimNack(const Packet& packet, Picos now)
{
    m_lastProgress = now; // nothing that it waits for is lost in silence
    if (m_selective->sender.OnTrimmed(packet.answered / m_facts.payloadBytes,
                                      PacketsOf(m_ackedBytes),
                                      PacketsOf(m_sentBytes)))
    {
        m_controller->OnNack(*this, now); // likewise
    }
}

} // namespace ns3::env::rdma
