// SPDX-License-Identifier: GPL-2.0-or-later
// A queue pair's receiver: packets in order, and the answer to each data packet.
#include "nic.h"
#include "queue-pair.h"

#include "ns3_env/cpp/rdma/switch/switch.h"

#include <utility>

namespace ns3::env::rdma
{

[[gnu::always_inline]] inline bool
QueuePair::IsAnswered(const Packet& packet, Picos now, PacketKind& answer)
{
    if (packet.sequence == m_expected)
    {
        m_expected += packet.payloadBytes;
        return true;
    }
    if (packet.sequence > m_expected)
    {
        ++m_outOfOrder;
        // One NACK is enough while it and its answer are in flight: the sender returns to the gap at once.
        if (m_expected == m_nackedGap && now < m_nextNackAt)
        {
            return false;
        }
        m_nackedGap = m_expected;
        m_nextNackAt = now + m_recovery.nackInterval;
        answer = PacketKind::Nack;
        return true;
    }
    m_duplicates += packet.payloadBytes;
    // A sender that had to wait for a timeout must learn which packets have arrived.
    return m_recovery.acknowledgesDuplicates || m_timeouts > 0;
}

void
QueuePair::TurnAround(Packet& packet, PacketKind answer)
{
    packet.kind = answer;
    packet.sequence = m_expected;
    packet.egress = m_backward.data();
    packet.payloadBytes = 0;
    packet.wireBytes = m_ackBytes;
    packet.hop = 0;
}

Answer
QueuePair::OnData(Packet& packet, Picos now)
{
    if ((m_options & (OF_PACKETS | AWAITED)) != 0) [[unlikely]]
    {
        return OnDataByOptions(packet, now);
    }
    PacketKind answer = PacketKind::Ack;
    if (!IsAnswered(packet, now, answer))
    {
        return Answer::None;
    }
    TurnAround(packet, answer);
    return Answer::Now;
}

Answer
QueuePair::OnDataByOptions(Packet& packet, Picos now)
{
    const Answer answer = AnswerByOptions(packet, now);
    if (m_awaiting != nullptr && m_expected == m_sizeBytes) // the options are the sender's
    {
        std::exchange(m_awaiting, nullptr)->OnDelivered(*this);
    }
    return answer;
}

Answer
QueuePair::AnswerByOptions(Packet& packet, Picos now)
{
    if (m_openLoop)
    {
        m_expected += packet.payloadBytes;
        return Answer::None;
    }
    const uint64_t end = packet.sequence + packet.payloadBytes;
    PacketKind answer = PacketKind::Ack;
    if (m_selective ? !IsAnsweredSelectively(packet, answer) : !IsAnswered(packet, now, answer))
    {
        return Answer::None;
    }
    Answer how = Answer::Now;
    if (m_answers && packet.kind != PacketKind::Trimmed) // which is answered at once
    {
        // in order, and no gap was filled
        const bool maySkip = answer == PacketKind::Ack && m_expected == end && !packet.ackRequested;
        how = AnswerByCard(packet, answer, maySkip);
    }
    else
    {
        TurnAround(packet, answer);
    }
    if (m_sparse && how != Answer::None && packet.telemetry == Telemetry::None)
    {
        packet.wireBytes = AckBytes(0);
    }
    return how;
}

} // namespace ns3::env::rdma
