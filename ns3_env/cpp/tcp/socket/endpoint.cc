// SPDX-License-Identifier: GPL-2.0-or-later
// Common part of both ends of a TCP connection: state, options, ECN, and segments without payload.
#include "endpoint.h"

#include "ns3/abort.h"
#include "ns3/tcp-rx-buffer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::env::tcp
{

namespace
{

constexpr uint32_t WIDEST_WINDOW = 0xffff; ///< without a scale
constexpr uint8_t WIDEST_SCALE = 14;
// A flow retries until the run ends: the doubled timeouts of this number of SYNs exceed any run.
constexpr uint32_t SYNS = 20;

uint8_t
ScaleOf(uint32_t bufferBytes)
{
    uint8_t scale = 0;
    while (bufferBytes >> scale > WIDEST_WINDOW)
    {
        ++scale;
    }
    return std::min(scale, WIDEST_SCALE);
}

} // namespace

Endpoint::Endpoint(Network& network,
                   const TcpSettings& settings,
                   Ptr<TcpCongestionOps> control,
                   double lineRateBps)
    : m_network(network),
      m_settings(settings),
      m_control(control),
      m_tcb(CreateObject<TcpSocketState>()),
      m_ownScale(ScaleOf(settings.socketBufferBytes)),
      m_sack(settings.sack)
{
    m_tcb->m_rxBuffer = CreateObject<TcpRxBuffer>();
    m_tcb->m_rxBuffer->SetMaxBufferSize(settings.socketBufferBytes);
    m_tcb->m_sendEmptyPacketCallback =
        Callback<void, uint8_t>([this](uint8_t flags) { SendEmpty(flags); });
    m_tcb->m_segmentSize = settings.segmentBytes;
    m_tcb->m_initialCWnd = settings.initialWindowSegments;
    m_tcb->m_initialSsThresh = std::numeric_limits<uint32_t>::max();
    m_tcb->m_useEcn = settings.ecn ? TcpSocketState::On : TcpSocketState::Off;
    m_tcb->m_pacing = settings.pacing;
    m_tcb->m_paceInitialWindow = settings.pacing;
    m_tcb->m_maxPacingRate = DataRate(static_cast<uint64_t>(std::llround(lineRateBps)));
    m_tcb->m_pacingRate = m_tcb->m_maxPacingRate;
    m_control->Init(m_tcb);
}

void
Endpoint::Attach(Channel& out)
{
    Listener*& end = out.connection->OtherThan(out).end;
    NS_ABORT_MSG_IF(end != nullptr && end != this,
                    "two flows have the ports " << out.tuple.sourcePort << " and "
                                                << out.tuple.destinationPort << " at once");
    end = this;
    m_out = &out;
    ++out.connection->users;
}

void
Endpoint::Release()
{
    if (m_out == nullptr)
    {
        return;
    }
    CancelTimers();
    Connection& connection = *m_out->connection;
    connection.OtherThan(*m_out).end = nullptr;
    m_out = nullptr;
    m_state = State::Closed;
    m_network.Close(connection);
}

Picos
Endpoint::NextSynTimeout()
{
    return m_syns == SYNS ? 0 : m_settings.initialRto * (int64_t{1} << m_syns++);
}

// --- receiving -----------------------------------------------------------------------------------

void
Endpoint::Receive(const Segment& segment)
{
    if (segment.payload > 0 && IsOutOfWindow(segment))
    {
        SendEmpty(flag::ACK);
        return;
    }
    SeeEcnField(segment);
    if (m_state == State::Established && (segment.flags & (flag::CWR | flag::RST)) == flag::CWR &&
        m_tcb->m_ecnState != TcpSocketState::ECN_CE_RCVD)
    {
        m_tcb->m_ecnState = TcpSocketState::ECN_IDLE; // the other end has heard the echo
    }
    const bool aborts = (segment.flags & flag::RST) != 0;
    const bool ignored =
        m_state == State::Listen || (m_state == State::SynSent && (segment.flags & flag::ACK) != 0);
    if (!aborts)
    {
        Process(segment);
    }
    else if (!ignored)
    {
        Release();
    }
}

void
Endpoint::SeeEcnField(const Segment& segment)
{
    if (segment.ecn == CONGESTION_EXPERIENCED && m_congestedSeq < segment.sequence)
    {
        m_congestedSeq = segment.sequence;
        m_tcb->m_ecnState = TcpSocketState::ECN_CE_RCVD;
        m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_ECN_IS_CE);
    }
    else if (segment.ecn != NOT_ECT && m_tcb->m_ecnState != TcpSocketState::ECN_DISABLED)
    {
        m_control->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_ECN_NO_CE);
    }
}

void
Endpoint::ReadSyn(const Segment& syn)
{
    m_peerScale = std::min(syn.options.windowScale, WIDEST_SCALE);
    m_sack = m_sack && syn.options.sackPermitted;
    m_tcb->m_cWnd = InitialWindowBytes();
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    m_tcb->m_ssThresh = m_tcb->m_initialSsThresh;
}

void
Endpoint::Established()
{
    m_control->CongestionStateSet(m_tcb, TcpSocketState::CA_OPEN);
    m_tcb->m_congState = TcpSocketState::CA_OPEN;
    m_state = State::Established;
}

// --- sending -------------------------------------------------------------------------------------

uint16_t
Endpoint::AdvertisedWindow(bool isSyn) const
{
    // The application reads data in order at once: the buffer contains only data behind a gap, which the window may
    // cover.
    const uint32_t window = m_settings.socketBufferBytes >> (isSyn ? 0 : m_ownScale);
    return static_cast<uint16_t>(std::min(window, WIDEST_WINDOW));
}

Segment*
Endpoint::Make(uint8_t flags)
{
    Segment* segment = m_network.Make(*m_out);
    segment->flags = flags;
    segment->sequence = m_tcb->m_nextTxSequence;
    segment->ack = NextArriving();
    segment->window = AdvertisedWindow((flags & flag::SYN) != 0);
    if (m_tcb->m_ecnMode == TcpSocketState::DctcpEcn)
    {
        segment->ecn = static_cast<uint8_t>(m_tcb->m_ectCodePoint);
    }
    return segment;
}

void
Endpoint::SendEmpty(uint8_t flags)
{
    if (m_out == nullptr)
    {
        return;
    }
    Segment* segment = Make(flags);
    if ((flags & flag::SYN) != 0)
    {
        segment->options.windowScale = m_ownScale;
        segment->options.sackPermitted = m_sack;
    }
    if ((flags & flag::ACK) != 0)
    {
        OnSendsAck(*segment);
    }
    Dispatch(segment);
}

void
Endpoint::Acknowledge()
{
    const bool echoes = m_tcb->m_ecnState == TcpSocketState::ECN_CE_RCVD ||
                        m_tcb->m_ecnState == TcpSocketState::ECN_SENDING_ECE;
    SendEmpty(echoes ? flag::ACK | flag::ECE : flag::ACK);
    if (echoes)
    {
        m_tcb->m_ecnState = TcpSocketState::ECN_SENDING_ECE;
    }
}

} // namespace ns3::env::tcp
