// SPDX-License-Identifier: GPL-2.0-or-later
// A sender's reaction to losses: repeated ACKs, recovery, partial ACKs, time-outs.
#include "sender.h"

#include <algorithm>

namespace ns3::env::tcp
{

namespace
{
constexpr Picos LONGEST_RTO = 60 * PS_PER_SECOND;
} // namespace

// --- losses --------------------------------------------------------------------------------------

void
Sender::OnRepeatedAck(const AckFacts& ack)
{
    if (m_tcb->m_congState == TcpSocketState::CA_LOSS)
    {
        return; // perhaps of a retransmission
    }
    if (m_tcb->m_congState == TcpSocketState::CA_RECOVERY)
    {
        if (!MayUseSack())
        {
            m_board.GuessSack();
        }
        if (!m_hasOwnControl)
        {
            m_recovery->DoRecovery(m_tcb, ack.delivered, true);
        }
        return;
    }
    ++m_repeats;
    if (m_tcb->m_congState == TcpSocketState::CA_OPEN)
    {
        m_control->CongestionStateSet(m_tcb, TcpSocketState::CA_DISORDER);
        m_tcb->m_congState = TcpSocketState::CA_DISORDER;
    }
    if (m_tcb->m_congState == TcpSocketState::CA_DISORDER)
    {
        const bool mayRecover = m_highestAck >= m_recover || !m_recoverHolds;
        if ((m_repeats == Scoreboard::DUPLICATES && mayRecover) || m_board.IsLost(m_highestAck))
        {
            EnterRecovery(ack);
        }
        else if (!MayUseSack())
        {
            m_board.GuessSack();
        }
    }
}

void
Sender::EnterRecovery(const AckFacts& ack)
{
    if (!MayUseSack())
    {
        m_board.GuessSack();
        m_board.LoseHead();
    }
    else if (!m_board.IsLost(m_board.Head()))
    {
        m_board.LoseHead();
    }
    m_recover = m_tcb->m_highTxMark;
    m_recoverHolds = true;
    m_control->CongestionStateSet(m_tcb, TcpSocketState::CA_RECOVERY);
    m_tcb->m_congState = TcpSocketState::CA_RECOVERY;
    const uint32_t inflight = Inflight() + (MayUseSack() ? 0 : m_settings.segmentBytes);
    m_tcb->m_ssThresh = m_control->GetSsThresh(m_tcb, inflight);
    if (!m_hasOwnControl)
    {
        const auto unacknowledged =
            static_cast<uint32_t>(m_tcb->m_highTxMark.Get() - m_board.Head());
        m_recovery->EnterRecovery(m_tcb, m_repeats, unacknowledged, ack.delivered);
    }
    SendData(m_highestAck, m_settings.segmentBytes);
}

/// Retransmits the first lost segment, or else the head.
void
Sender::SendAgain()
{
    const auto next = m_board.Next(false, m_receiverWindow);
    m_tcb->m_nextTxSequence = next ? next->first : m_board.Head();
    SendData(m_tcb->m_nextTxSequence,
             next ? static_cast<uint32_t>(next->end - next->first) : m_settings.segmentBytes);
}

void
Sender::OnPartialAck(const AckFacts& ack)
{
    if (!MayUseSack())
    {
        m_board.LoseHead();
    }
    if (!m_hasOwnControl && ack.segments >= 1)
    {
        m_recovery->DoRecovery(m_tcb, ack.delivered, false);
    }
    if (!m_board.IsSentAgainUpTo(ack.number + SequenceNumber32(m_settings.segmentBytes)))
    {
        SendAgain();
        const uint32_t acked = ack.segments * m_settings.segmentBytes;
        m_tcb->m_cWndInfl -= std::min(acked, m_tcb->m_cWndInfl.Get());
    }
    m_control->PktsAcked(m_tcb, 1, m_tcb->m_srtt);
    OnProgress(ack.number, m_firstPartial);
    m_firstPartial = false;
}

// --- time-outs -----------------------------------------------------------------------------------

void
Sender::UpdateRto()
{
    m_rto = std::max(m_roundTrips.Timeout(), m_settings.minRto);
}

void
Sender::OnTimer()
{
    if (m_state == State::SynSent)
    {
        SendSyn();
    }
    else if (m_board.Size() > 0)
    {
        ++m_counts.timeouts;
        OnTimeOut();
    }
}

void
Sender::OnTimeOut()
{
    const uint32_t inflight = Inflight();
    const bool guessed = !MayUseSack();
    m_repeats = 0;
    m_board.LoseAll(guessed);
    m_recover = m_tcb->m_highTxMark;
    m_recoverHolds = true;
    m_rto = std::min(2 * m_rto, LONGEST_RTO);
    m_roundTrips.Forget();
    if (m_tcb->m_congState != TcpSocketState::CA_LOSS || !m_board.IsHeadSentAgain())
    {
        m_tcb->m_ssThresh = m_control->GetSsThresh(m_tcb, inflight);
    }
    m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_LOSS);
    m_control->CongestionStateSet(m_tcb, TcpSocketState::CA_LOSS);
    m_tcb->m_congState = TcpSocketState::CA_LOSS;
    m_tcb->m_cWnd = m_tcb->m_segmentSize;
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    m_pacing.Cancel();
    SendWhatMayGo();
}

} // namespace ns3::env::tcp
