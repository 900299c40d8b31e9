// SPDX-License-Identifier: GPL-2.0-or-later
// A sender's reaction to an ACK: RTT, window, progress, echoed congestion.
#include "sender.h"

#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/network/ns3-time.h"

#include <algorithm>

namespace ns3::env::tcp
{

void
Sender::Process(const Segment& segment)
{
    const bool isSyn = (segment.flags & flag::SYN) != 0;
    if (isSyn)
    {
        m_receiverWindow = segment.window; // never scaled
        ReadSyn(segment);
        m_board.SetSack(MayUseSack());
    }
    if ((segment.flags & flag::ACK) == 0)
    {
        return;
    }
    TakeRtt(segment.ack);
    if (isSyn)
    {
        m_highestAck = segment.ack;
    }
    else
    {
        UpdateWindow(segment);
    }
    if (m_state == State::SynSent)
    {
        if (isSyn && segment.ack == m_tcb->m_nextTxSequence + SequenceNumber32(1))
        {
            OpenWith(segment);
        }
    }
    else if (m_state == State::Established && WithoutEcn(segment.flags) == flag::ACK)
    {
        if (segment.ack > m_tcb->m_highTxMark)
        {
            Acknowledge(); // of data never sent
        }
        else if (segment.ack >= m_board.Head())
        {
            TakeAck(segment);
        }
    }
}

void
Sender::TakeRtt(SequenceNumber32 ack)
{
    const RttOfAck rtt = m_roundTrips.OnAck(ack, NowPicos());
    if (rtt.last != 0)
    {
        m_tcb->m_lastRtt = ToTime(rtt.last);
    }
    if (rtt.first != 0)
    {
        UpdateRto();
        m_tcb->m_srtt = m_roundTrips.Estimate();
        m_tcb->m_minRtt = std::min(m_tcb->m_srtt.Get(), m_tcb->m_minRtt);
    }
    if (rtt.last != 0 && IsConnected()) // the SYN's is not of data
    {
        m_rtts.Add(rtt.last);
        if (m_rttCallback)
        {
            m_rttCallback(rtt.last);
        }
    }
}

void
Sender::UpdateWindow(const Segment& segment)
{
    const uint32_t window = uint32_t{segment.window} << PeerScale();
    bool isNewer =
        m_state != State::Established || (segment.ack == m_highestAck && window > m_receiverWindow);
    if (m_state == State::Established && segment.ack > m_highestAck)
    {
        m_highestAck = segment.ack;
        isNewer = true;
    }
    if (m_state == State::Established && segment.sequence > m_highestArrived)
    {
        m_highestArrived = segment.sequence;
        isNewer = true;
    }
    m_receiverWindow = isNewer ? window : m_receiverWindow;
}

uint64_t
Sender::AcknowledgedBytes()
{
    const int32_t more = m_board.Head() - m_acknowledged;
    if (more > 0)
    {
        m_acknowledged += more;
        m_counts.acknowledgedBytes += static_cast<uint64_t>(more);
    }
    return m_counts.acknowledgedBytes;
}

void
Sender::TakeAck(const Segment& segment)
{
    const SequenceNumber32 before = m_acknowledged;
    m_lastAckMarked = (segment.flags & flag::ECE) != 0;
    ProcessAck(segment);
    AcknowledgedBytes();
    if (m_acknowledged > before && m_acknowledgedCallback)
    {
        m_acknowledgedCallback();
    }
}

void
Sender::ProcessAck(const Segment& segment)
{
    const uint32_t lostBefore = m_board.Lost();
    const uint32_t inflightBefore = m_tcb->m_bytesInFlight;
    const uint64_t deliveredBefore = m_rate.Delivered();
    AckFacts ack{.number = segment.ack, .before = m_board.Head()};
    const uint32_t sacked =
        m_board.Sack({segment.options.sack.data(), segment.options.blocks}, m_rate);
    if (ack.number > ack.before && ack.number < m_recover &&
        m_tcb->m_congState == TcpSocketState::CA_RECOVERY)
    {
        const uint32_t segments =
            static_cast<uint32_t>(ack.number - ack.before) / m_settings.segmentBytes;
        for (uint32_t i = 0; i < segments && !m_tcb->m_isRetransDataAcked; ++i)
        {
            m_tcb->m_isRetransDataAcked = m_board.IsSentAgainUpTo(
                ack.number - static_cast<int32_t>(i * m_settings.segmentBytes));
        }
    }
    m_board.Acknowledge(ack.number, m_rate);
    ack.delivered = static_cast<uint32_t>(m_rate.Delivered() - deliveredBefore);
    m_tcb->m_lastAckedSackedBytes = ack.delivered;
    SeeEcho(segment, ack);
    Inflight();
    ack.repeated =
        MayUseSack() ? sacked > 0 : ack.number == ack.before && ack.number < m_tcb->m_highTxMark;
    Advance(ack);
    m_tcb->m_isRetransDataAcked = false;
    if (m_hasOwnControl)
    {
        const uint32_t lost = m_board.Lost();
        const uint32_t change = lost > lostBefore ? lost - lostBefore : lostBefore - lost;
        const auto sample = m_rate.Take(ack.delivered, change, inflightBefore, m_tcb->m_minRtt);
        m_control->CongControl(m_tcb, m_rate.Record(), sample);
    }
    SendWhatMayGo();
}

/// The end of a window that was cut, and an echo that cuts the next.
void
Sender::SeeEcho(const Segment& segment, AckFacts& ack)
{
    if (m_tcb->m_congState == TcpSocketState::CA_CWR && ack.number > m_recover)
    {
        m_tcb->m_congState = TcpSocketState::CA_OPEN;
        if (!m_hasOwnControl)
        {
            m_tcb->m_cWnd = m_tcb->m_ssThresh.Get();
            m_recovery->ExitRecovery(m_tcb);
            m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_COMPLETE_CWR);
        }
    }
    const bool echoes = (segment.flags & flag::ECE) != 0;
    if (echoes && ack.number > ack.before && m_tcb->m_ecnState != TcpSocketState::ECN_DISABLED)
    {
        if (m_echoed < ack.number)
        {
            m_echoed = ack.number;
            m_tcb->m_ecnState = TcpSocketState::ECN_ECE_RCVD;
            if (m_tcb->m_congState != TcpSocketState::CA_CWR)
            {
                EnterCwr(ack);
            }
        }
    }
    else if (!echoes && m_tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD)
    {
        m_tcb->m_ecnState = TcpSocketState::ECN_IDLE;
    }
}

void
Sender::EnterCwr(const AckFacts& ack)
{
    m_tcb->m_ssThresh = m_control->GetSsThresh(m_tcb, Inflight());
    m_tcb->m_cWndInfl = m_tcb->m_ssThresh;
    m_tcb->m_congState = TcpSocketState::CA_CWR;
    m_recover = m_tcb->m_highTxMark;
    if (!m_hasOwnControl)
    {
        const auto unacknowledged =
            static_cast<uint32_t>(m_tcb->m_highTxMark.Get() - m_board.Head());
        m_recovery->EnterRecovery(m_tcb, m_repeats, unacknowledged, ack.delivered);
    }
}

void
Sender::Advance(AckFacts& ack)
{
    ack.repeatsBefore = m_repeats;
    m_tcb->m_lastAckedSeq = ack.number;
    if (ack.repeated)
    {
        OnRepeatedAck(ack);
    }
    if (ack.number == ack.before)
    {
        if (ack.number == m_tcb->m_highTxMark)
        {
            return;
        }
        m_control->PktsAcked(m_tcb, 1, m_tcb->m_srtt); // some segment has arrived
        UpdatePacingRate();
        return;
    }
    CountSegments(ack);
    m_repeats = ack.repeated ? m_repeats : 0;
    const TcpSocketState::TcpCongState_t state = m_tcb->m_congState;
    if (ack.number < m_recover && state == TcpSocketState::CA_RECOVERY)
    {
        OnPartialAck(ack);
    }
    else if (ack.number < m_recover && state == TcpSocketState::CA_LOSS)
    {
        m_control->PktsAcked(m_tcb, ack.segments, m_tcb->m_srtt);
        Increase(ack.segments);
        OnProgress(ack.number, true);
    }
    else if (state == TcpSocketState::CA_CWR)
    {
        m_control->PktsAcked(m_tcb, ack.segments, m_tcb->m_srtt);
        if (!m_hasOwnControl && ack.segments >= 1)
        {
            m_recovery->DoRecovery(m_tcb, ack.delivered, false);
        }
        OnProgress(ack.number, true);
    }
    else
    {
        OnFullAck(ack);
    }
    UpdatePacingRate();
}

void
Sender::Increase(uint32_t segments)
{
    const uint32_t before = m_tcb->m_cWnd;
    m_control->IncreaseWindow(m_tcb, segments);
    if (before > WIDEST_WINDOW_BYTES && m_tcb->m_cWnd.Get() < WIDEST_WINDOW_BYTES / 2)
    {
        m_tcb->m_cWnd = before; // it has overflowed 32 bits
    }
}

/// Counts whole segments; bytes beyond them are kept for the next ACK.
void
Sender::CountSegments(AckFacts& ack)
{
    const uint32_t segment = m_settings.segmentBytes;
    ack.segments = ack.delivered / segment;
    m_oddBytes += ack.delivered % segment;
    if (m_oddBytes >= segment)
    {
        ++ack.segments;
        m_oddBytes -= segment;
    }
}

/// Returns to the open state: nothing was lost, or all losses are repaired.
void
Sender::OnFullAck(AckFacts& ack)
{
    const TcpSocketState::TcpCongState_t state = m_tcb->m_congState;
    const auto open = [this]
    {
        m_control->CongestionStateSet(m_tcb, TcpSocketState::CA_OPEN);
        m_tcb->m_congState = TcpSocketState::CA_OPEN;
    };
    if (state == TcpSocketState::CA_OPEN)
    {
        m_control->PktsAcked(m_tcb, ack.segments, m_tcb->m_srtt);
    }
    else if (state == TcpSocketState::CA_DISORDER)
    {
        if (ack.segments >= ack.repeatsBefore)
        {
            m_control->PktsAcked(m_tcb, ack.segments - ack.repeatsBefore, m_tcb->m_srtt);
        }
        if (!ack.repeated)
        {
            open(); // it was out of order, not lost
        }
    }
    else if (state == TcpSocketState::CA_RECOVERY)
    {
        m_firstPartial = true;
        ack.segments = static_cast<uint32_t>(ack.number - ack.before) / m_settings.segmentBytes;
        m_control->PktsAcked(m_tcb, ack.segments, m_tcb->m_srtt);
        m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_COMPLETE_CWR);
        open();
        m_repeats = 0;
    }
    else if (state == TcpSocketState::CA_LOSS)
    {
        m_firstPartial = true;
        ack.segments = static_cast<uint32_t>(ack.number - m_recover) / m_settings.segmentBytes;
        m_control->PktsAcked(m_tcb, ack.segments, m_tcb->m_srtt);
        open();
    }
    if (ack.number >= m_recover)
    {
        m_recoverHolds = false;
    }
    if (state == TcpSocketState::CA_RECOVERY)
    {
        OnProgress(ack.number, true);
        m_tcb->m_cWnd = m_tcb->m_ssThresh.Get();
        m_recovery->ExitRecovery(m_tcb);
        Inflight();
    }
    if (m_tcb->m_congState == TcpSocketState::CA_OPEN)
    {
        Increase(ack.segments);
        m_tcb->m_cWndInfl = m_tcb->m_cWnd;
        OnProgress(ack.number, true);
    }
}

void
Sender::OnProgress(SequenceNumber32 ack, bool restartTimer)
{
    if (restartTimer)
    {
        UpdateRto();
        m_retransmission.Set(m_rto);
    }
    if (FreeBytes() > 0)
    {
        Supply();
    }
    if (ack > m_tcb->m_nextTxSequence)
    {
        m_tcb->m_nextTxSequence = ack;
    }
    if (m_board.Size() == 0)
    {
        m_retransmission.Cancel();
    }
}

} // namespace ns3::env::tcp
