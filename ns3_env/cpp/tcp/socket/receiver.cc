// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a TCP connection that receives a message: order, ACKs at once or delayed, SACK blocks.
#include "receiver.h"

#include <algorithm>
#include <utility>

namespace ns3::env::tcp
{

Receiver::Receiver(Network& network,
                   const TcpSettings& settings,
                   Ptr<TcpCongestionOps> control,
                   double lineRateBps,
                   uint32_t node)
    : Endpoint(network, settings, control, lineRateBps),
      m_node(node),
      m_reassembly(settings.socketBufferBytes),
      m_delayed(Timer::Of<&Receiver::OnDelayOver>(network.Timers(), this, node)),
      m_answer(Timer::Of<&Receiver::AnswerSyn>(network.Timers(), this, node)),
      m_again(Timer::Of<&Receiver::SendSynAck>(network.Timers(), this, node))
{
}

void
Receiver::CancelTimers()
{
    m_delayed.Cancel();
    m_answer.Cancel();
    m_again.Cancel();
    if (m_late)
    {
        m_late->DropAll();
    }
}

// --- the handshake -------------------------------------------------------------------------------

void
Receiver::Await(Channel& out)
{
    Attach(out);
    m_state = State::Listen;
}

void
Receiver::Process(const Segment& segment)
{
    const bool isSyn = WithoutEcn(segment.flags) == flag::SYN;
    switch (m_state)
    {
    case State::Listen:
    case State::SynReceived:
        if (isSyn)
        {
            ReadSyn(segment);
            m_peerAsksForEcn = AsksForEcn(segment);
            SetNextArriving(segment.sequence + SequenceNumber32(1));
            if (m_state == State::Listen)
            {
                m_answer.Set(0);
            }
            else
            {
                SetUpEcn();
                SendSynAck();
            }
        }
        else if (m_state == State::SynReceived &&
                 segment.ack == m_tcb->m_nextTxSequence + SequenceNumber32(1))
        {
            Established();
            m_again.Cancel();
            m_tcb->m_highTxMark = ++m_tcb->m_nextTxSequence;
            m_unacknowledged =
                m_settings.segmentsPerAck; // the first segment is acknowledged at once
            Take(segment);
        }
        break;
    case State::Established:
        if (WithoutEcn(segment.flags) == flag::ACK)
        {
            Take(segment);
        }
        break;
    default:
        break;
    }
}

void
Receiver::AnswerSyn()
{
    m_state = State::SynReceived;
    RestartSyns();
    SendSynAck();
    SetUpEcn();
}

void
Receiver::SendSynAck()
{
    const Picos timeout = NextSynTimeout();
    if (timeout == 0)
    {
        Release();
        return;
    }
    SendEmpty(flag::SYN | flag::ACK | (UsesEcn() ? flag::ECE : 0));
    if (!m_again.IsSet())
    {
        m_again.Set(timeout);
    }
}

// --- data ----------------------------------------------------------------------------------------

bool
Receiver::IsOutOfWindow(const Segment& segment) const
{
    const SequenceNumber32 next = NextArriving();
    return m_state == State::Established &&
           (segment.sequence + SequenceNumber32(segment.payload) < next ||
            next + SequenceNumber32(m_reassembly.MostBytes()) <= segment.sequence);
}

void
Receiver::OnSendsAck(Segment& segment)
{
    m_delayed.Cancel();
    m_unacknowledged = 0;
    if (MayUseSack())
    {
        const auto& blocks = m_reassembly.Blocks();
        segment.options.blocks = static_cast<uint8_t>(blocks.size());
        std::copy(blocks.begin(), blocks.end(), segment.options.sack.begin());
    }
}

void
Receiver::Dispatch(Segment* segment)
{
    if (m_late && (segment->flags & flag::SYN) == 0)
    {
        m_late->Hold(segment);
    }
    else
    {
        Endpoint::Dispatch(segment);
    }
}

void
Receiver::Take(const Segment& segment)
{
    if (segment.payload == 0)
    {
        return;
    }
    const SequenceNumber32 before = NextArriving();
    SequenceNumber32 next = before;
    if (!m_reassembly.Add(segment.sequence, segment.payload, next))
    {
        Acknowledge();
    }
    else
    {
        SetNextArriving(next);
        m_arrivedBytes += static_cast<uint32_t>(next - before);
        if (m_reassembly.HasGap() || next > before + SequenceNumber32(segment.payload))
        {
            m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_NON_DELAYED_ACK);
            Acknowledge();
        }
        else
        {
            CountInOrder();
        }
    }
    if (m_lastByte > 0 && m_arrivedBytes >= m_lastByte)
    {
        OnAllArrived();
    }
}

void
Receiver::OnAllArrived()
{
    if (m_delayed.IsSet())
    {
        m_delayed.Cancel();
        OnDelayOver();
    }
    if (m_arrived)
    {
        std::exchange(m_arrived, nullptr)();
    }
}

/// Handles a segment that arrived in order.
void
Receiver::CountInOrder()
{
    if (++m_unacknowledged >= m_settings.segmentsPerAck)
    {
        m_delayed.Cancel();
        m_unacknowledged = 0;
        m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_NON_DELAYED_ACK);
        Acknowledge();
        return;
    }
    m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_DELAYED_ACK);
    if (!m_delayed.IsSet())
    {
        m_delayed.Set(m_settings.delayedAckTimeout);
    }
}

void
Receiver::OnDelayOver()
{
    m_unacknowledged = 0;
    m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_DELAYED_ACK);
    Acknowledge();
}

} // namespace ns3::env::tcp
