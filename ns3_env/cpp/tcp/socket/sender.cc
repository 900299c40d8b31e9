// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a TCP connection that sends a message: windows, pacing, losses, time-outs, and counts.
#include "sender.h"

#include "ns3/tcp-prr-recovery.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::tcp
{

namespace
{

constexpr uint32_t SEGMENTS_PER_WRITE = 16; ///< segments per write of the application
constexpr Picos SOON = 1;
constexpr double PERCENT = 100;

} // namespace

Sender::Sender(Network& network,
               const TcpSettings& settings,
               Ptr<TcpCongestionOps> control,
               double lineRateBps,
               uint32_t node)
    : Endpoint(network, settings, control, lineRateBps),
      m_board(settings.segmentBytes),
      m_roundTrips(settings.initialRto),
      m_recovery(CreateObject<TcpPrrRecovery>()),
      m_hasOwnControl(control->HasCongControl()),
      m_retransmission(Timer::Of<&Sender::OnTimer>(network.Timers(), this, node)),
      m_pacing(Timer::Of<&Sender::SendWhatMayGo>(network.Timers(), this, node)),
      m_soon(Timer::Of<&Sender::SendWhatMayGo>(network.Timers(), this, node)),
      m_connected(Timer::Of<&Sender::Supply>(network.Timers(), this, node))
{
    m_board.SetSack(settings.sack);
}

void
Sender::CancelTimers()
{
    m_retransmission.Cancel();
    m_pacing.Cancel();
    m_soon.Cancel();
    m_connected.Cancel();
}

// --- the connection ------------------------------------------------------------------------------

void
Sender::Dial(Channel& out, uint64_t messageBytes)
{
    Attach(out);
    m_message = messageBytes;
    RestartSyns();
    SendSyn();
    m_state = State::SynSent;
    m_tcb->m_ecnState = TcpSocketState::ECN_DISABLED; // the receiver's part is not known yet
    Supply();
}

void
Sender::SendSyn()
{
    const bool first = m_rto == 0;
    m_rto = NextSynTimeout();
    if (m_rto == 0)
    {
        Release();
        return;
    }
    if (first)
    {
        m_roundTrips.OnSent(m_tcb->m_nextTxSequence, 0, NowPicos());
    }
    else
    {
        ++m_counts.timeouts;
    }
    const bool ecn = m_tcb->m_useEcn == TcpSocketState::On;
    Endpoint::SendEmpty(flag::SYN | (ecn ? flag::ECE | flag::CWR : 0));
    m_retransmission.Set(m_rto);
}

void
Sender::SendEmpty(uint8_t flags)
{
    UpdateRto();
    Endpoint::SendEmpty(flags);
}

void
Sender::OpenWith(const Segment& synAck)
{
    Established();
    m_retransmission.Cancel();
    SetNextArriving(synAck.sequence + SequenceNumber32(1));
    m_tcb->m_highTxMark = ++m_tcb->m_nextTxSequence;
    m_board.Begin(m_tcb->m_nextTxSequence);
    UpdatePacingRate();
    SendEmpty(flag::ACK);
    const bool ecn = m_tcb->m_useEcn != TcpSocketState::Off &&
                     (synAck.flags & (flag::CWR | flag::ECE)) == flag::ECE;
    m_tcb->m_ecnState = ecn ? TcpSocketState::ECN_IDLE : TcpSocketState::ECN_DISABLED;
    SendWhatMayGo();
    m_connected.Set(0);
}

// --- the application -----------------------------------------------------------------------------

/// Writes as much as there is room for.
void
Sender::Supply()
{
    const uint64_t most = uint64_t{SEGMENTS_PER_WRITE} * m_settings.segmentBytes;
    while (m_written < m_message)
    {
        const auto bytes = static_cast<uint32_t>(std::min(m_message - m_written, most));
        if (FreeBytes() < bytes)
        {
            return;
        }
        m_written += bytes;
        Write(bytes);
    }
}

void
Sender::Write(uint32_t bytes)
{
    m_board.Add(bytes);
    const bool isLast = m_board.Tail() - m_tcb->m_nextTxSequence.Get() <
                        static_cast<int32_t>(m_settings.segmentBytes);
    if (isLast && m_tcb->m_bytesInFlight < m_tcb->m_cWnd.Get() &&
        m_board.Lost() <= m_board.SentAgain())
    {
        m_rate.LimitByApplication(m_tcb->m_bytesInFlight);
    }
    if (m_state == State::Established && AvailableWindow() > 0 && !m_soon.IsSet())
    {
        m_soon.Set(SOON);
    }
}

// --- sending -------------------------------------------------------------------------------------

uint32_t
Sender::Inflight()
{
    const uint32_t bytes = m_board.InFlight();
    m_tcb->m_bytesInFlight = bytes;
    return bytes;
}

uint32_t
Sender::AvailableWindow()
{
    if (m_held)
    {
        return 0;
    }
    const uint32_t window = std::min(m_receiverWindow, m_tcb->m_cWnd.Get());
    const uint32_t inflight = Inflight();
    return inflight > window ? 0 : window - inflight;
}

void
Sender::GoOn()
{
    if (IsConnected())
    {
        SendWhatMayGo();
    }
}

/// RFC 6675, section 5, (C).
void
Sender::SendWhatMayGo()
{
    if (m_board.Size() == 0 || !IsAttached())
    {
        return;
    }
    uint32_t window = AvailableWindow();
    while (window > 0 && !(IsPacingNow() && m_pacing.IsSet()))
    {
        const bool rescue = MayUseSack() && m_tcb->m_congState == TcpSocketState::CA_RECOVERY;
        const auto next = m_board.Next(rescue, m_receiverWindow);
        if (!next)
        {
            return;
        }
        const uint32_t available = m_board.SizeFrom(next->first);
        if (available < window)
        {
            Supply();
        }
        if (window < m_settings.segmentBytes && available > window)
        {
            return; // a silly window
        }
        if (m_tcb->m_nextTxSequence != next->first)
        {
            m_tcb->m_nextTxSequence = next->first;
        }
        if (m_tcb->m_bytesInFlight == 0U)
        {
            m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_TX_START);
        }
        const uint32_t most = std::min(
            {window, m_settings.segmentBytes, static_cast<uint32_t>(next->end - next->first)});
        const uint32_t bytes = SendData(m_tcb->m_nextTxSequence, most);
        m_tcb->m_nextTxSequence += bytes;
        if (IsPacingNow() && !m_pacing.IsSet()) // from this segment on
        {
            SetPacingTimer(bytes);
            return;
        }
        window = AvailableWindow();
    }
}

uint32_t
Sender::SendData(SequenceNumber32 first, uint32_t most)
{
    const SequenceNumber32 highest = m_tcb->m_highTxMark;
    const bool nothingInFlight = Inflight() == 0;
    SentPiece& piece = m_board.Send(first, most);
    const bool again = piece.again;
    const uint32_t bytes = piece.bytes;
    const Picos now = NowPicos();
    m_rate.OnSent(piece.stamp, nothingInFlight, now);
    if (IsPacingNow() && !m_pacing.IsSet())
    {
        SetPacingTimer(bytes);
    }
    uint8_t flags = flag::ACK;
    if (m_tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD && m_echoed > m_answered && !again)
    {
        m_tcb->m_ecnState = TcpSocketState::ECN_CWR_SENT;
        m_answered = first;
        flags |= flag::CWR;
    }
    Segment* segment = Make(flags);
    segment->sequence = first;
    segment->payload = bytes;
    if (m_tcb->m_ecnState != TcpSocketState::ECN_DISABLED && !again)
    {
        segment->ecn = static_cast<uint8_t>(m_tcb->m_ectCodePoint);
    }
    if (!m_retransmission.IsSet())
    {
        m_retransmission.Set(m_rto);
    }
    m_network.Send(segment);
    m_tcb->m_isCwndLimited = m_tcb->m_cWnd < Inflight() + m_settings.segmentBytes;
    if (again)
    {
        m_roundTrips.OnSentAgain(first, bytes);
    }
    else
    {
        m_roundTrips.OnSent(first, bytes, now);
    }
    if (m_tcb->m_congState == TcpSocketState::CA_RECOVERY ||
        m_tcb->m_congState == TcpSocketState::CA_CWR)
    {
        m_recovery->UpdateBytesSent(bytes);
    }
    m_tcb->m_highTxMark = std::max(first + SequenceNumber32(bytes), highest);

    m_counts.sentBytes += bytes;
    ++m_counts.packets;
    const int32_t sentBefore = highest - first;
    if (sentBefore > 0)
    {
        m_counts.retransmittedBytes += std::min(bytes, static_cast<uint32_t>(sentBefore));
    }
    const int32_t fresh = m_tcb->m_highTxMark.Get() - m_sent;
    if (fresh > 0)
    {
        m_sent += fresh;
        m_sentBytes += static_cast<uint64_t>(fresh);
    }
    return bytes;
}

// --- pacing --------------------------------------------------------------------------------------

bool
Sender::IsPacingNow() const
{
    return m_tcb->m_pacing && (m_tcb->m_paceInitialWindow ||
                               m_tcb->m_highTxMark.Get().GetValue() > InitialWindowBytes());
}

void
Sender::SetPacingTimer(uint32_t bytes)
{
    m_pacedBytes = bytes;
    m_pacedAt = NowPicos();
    m_pacing.Set(PacingGap());
}

void
Sender::Repace()
{
    if (m_pacing.IsSet())
    {
        m_pacing.Set(std::max<Picos>(m_pacedAt + PacingGap() - NowPicos(), 0));
    }
}

void
Sender::UpdatePacingRate()
{
    if (m_hasOwnControl || !m_tcb->m_pacing)
    {
        return;
    }
    const bool slowStart = m_tcb->m_cWnd < m_tcb->m_ssThresh / 2;
    const double factor = (slowStart ? m_tcb->m_pacingSsRatio : m_tcb->m_pacingCaRatio) / PERCENT;
    const double bits = std::max(m_tcb->m_cWnd.Get(), m_tcb->m_bytesInFlight.Get()) * 8.0;
    const DataRate rate(bits * factor / m_tcb->m_srtt.Get().GetSeconds());
    m_tcb->m_pacingRate = std::min(rate, m_tcb->m_maxPacingRate);
}

void
Sender::Steer(uint32_t windowBytes, double payloadBps)
{
    m_tcb->m_cWnd = std::max(windowBytes, m_tcb->m_segmentSize);
    m_tcb->m_pacingRate = DataRate(static_cast<uint64_t>(std::llround(payloadBps)));
}

void
Sender::SteerFromStart(uint32_t windowSegments, double payloadBps)
{
    m_tcb->m_initialCWnd = std::max(windowSegments, 1U);
    m_tcb->m_pacing = true;
    m_tcb->m_paceInitialWindow = true;
    m_tcb->m_pacingRate = DataRate(static_cast<uint64_t>(std::llround(payloadBps)));
}

} // namespace ns3::env::tcp
