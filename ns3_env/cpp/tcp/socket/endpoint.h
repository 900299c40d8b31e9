// SPDX-License-Identifier: GPL-2.0-or-later
// Common part of both ends of a TCP connection: state, options, ECN, and segments without payload.
#pragma once

#include "ns3/ptr.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/tcp/network/network.h"
#include "ns3_env/cpp/tcp/network/segment.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"
#include "ns3_env/cpp/tcp/network/timer.h"

#include <algorithm>
#include <cstdint>

namespace ns3::env::tcp
{

/// One end of a connection. Congestion control, its state, RTT estimate and recovery are ns-3's objects, called as
/// ns-3's socket calls them, in its order: results are the same bits. Features that no flow of a scenario uses are
/// omitted: FIN, timestamps, data in both directions, a closed window, abandoning a connection.
class Endpoint : public Listener
{
  public:
    /// The congestion control is set up last: it may require ECN or pacing.
    Endpoint(Network& network,
             const TcpSettings& settings,
             Ptr<TcpCongestionOps> control,
             double lineRateBps);
    Endpoint(Endpoint&&) = delete;

    /// Sends on `out` from now on, and receives on the other channel of its connection.
    void Attach(Channel& out);
    /// Ends all activity without a packet to the other end; idempotent.
    void Release();
    void Receive(const Segment& segment) override;

    bool IsConnected() const { return m_state == State::Established; }
    TcpCongestionOps& CongestionOps() const { return *m_control; }
    /// The socket's variables, with trace sources of windows, rates and more.
    TcpSocketState& Variables() const { return *m_tcb; }

  protected:
    enum class State : uint8_t
    {
        Closed,
        Listen,
        SynSent,
        SynReceived,
        Established,
    };

    /// Processes a valid segment, after its ECN field.
    virtual void Process(const Segment& segment) = 0;
    /// Reports whether none of the payload is within the receive window.
    virtual bool IsOutOfWindow(const Segment&) const { return false; }
    virtual void CancelTimers() = 0;
    /// Adds the end's reports to the header of an ACK that is being made.
    virtual void OnSendsAck(Segment&) {}

    /// A segment without payload.
    virtual void SendEmpty(uint8_t flags);
    /// Sends a segment without payload.
    virtual void Dispatch(Segment* segment) { m_network.Send(segment); }
    /// ACK, with the echo that is due.
    void Acknowledge();
    /// A segment of this end, of the next sequence number.
    Segment* Make(uint8_t flags);
    void Established();
    /// Reads the options of the other end's SYN.
    void ReadSyn(const Segment& syn);
    bool IsAttached() const { return m_out != nullptr; }
    bool MayUseSack() const { return m_sack; }
    uint8_t PeerScale() const { return m_peerScale; }
    /// Time-out of the SYN that is sent next; each is twice as long as the one before. 0: that was the last.
    Picos NextSynTimeout();
    void RestartSyns() { m_syns = 0; }
    uint32_t InitialWindowBytes() const
    {
        const uint64_t bytes = uint64_t{m_tcb->m_initialCWnd} * m_tcb->m_segmentSize;
        return static_cast<uint32_t>(std::min(bytes, WIDEST_WINDOW_BYTES));
    }
    /// A congestion window beyond this has no effect: twice a receiver's maximum.
    static constexpr uint64_t WIDEST_WINDOW_BYTES = 2ULL * bounds::SOCKET_BUFFER_BYTES;

    SequenceNumber32 NextArriving() const { return m_tcb->m_rxBuffer->NextRxSequence(); }
    void SetNextArriving(SequenceNumber32 next) { m_tcb->m_rxBuffer->SetNextRxSequence(next); }
    static uint8_t WithoutEcn(uint8_t flags) { return flags & ~(flag::CWR | flag::ECE); }
    static bool AsksForEcn(const Segment& syn)
    {
        return (syn.flags & (flag::CWR | flag::ECE)) == (flag::CWR | flag::ECE);
    }

    Network& m_network;
    const TcpSettings& m_settings;
    Ptr<TcpCongestionOps> m_control;
    Ptr<TcpSocketState> m_tcb;
    State m_state{State::Closed};

  private:
    void SeeEcnField(const Segment& segment);
    uint16_t AdvertisedWindow(bool isSyn) const;

    Channel* m_out{nullptr};
    uint8_t m_ownScale;
    uint8_t m_peerScale{0};
    uint32_t m_syns{0};
    bool m_sack;
    SequenceNumber32 m_congestedSeq{0}; ///< of the last segment that was marked and counted
};

} // namespace ns3::env::tcp
