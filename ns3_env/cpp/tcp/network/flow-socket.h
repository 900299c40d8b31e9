// SPDX-License-Identifier: GPL-2.0-or-later
// ns-3's TCP socket with a flow's ports and settings, and with counts.
#ifndef NS3_ENV_TCP_NETWORK_FLOW_SOCKET_H
#define NS3_ENV_TCP_NETWORK_FLOW_SOCKET_H

#include "tcp-settings.h"

#include "ns3/node.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3_env/cpp/engine/rtt-samples.h"
#include "ns3_env/cpp/routing/ecmp.h"

#include <cstdint>
#include <functional>
#include <list>

namespace ns3::env::tcp
{

/**
 * While it lives, a buffer's list of sent segments begins with the one that holds a sequence number, and so does the
 * buffer; its counts of bytes are as ever.
 *
 * ns-3 looks a segment up from the list's head, and at each step an assertion compares the list with itself, element by
 * element: n^2 steps for n segments in flight, 10 ms with 4 MiB of them. With the segment at the head it is one step.
 */
class SentSegmentsFrom
{
  public:
    /// \param sequence of a byte that was sent and not acknowledged
    SentSegmentsFrom(TcpTxBuffer& buffer, SequenceNumber32 sequence);
    ~SentSegmentsFrom();

    SentSegmentsFrom(const SentSegmentsFrom&) = delete;
    SentSegmentsFrom& operator=(const SentSegmentsFrom&) = delete;

  private:
    TcpTxBuffer& m_buffer;
    SequenceNumber32 m_head;
    std::list<TcpTxItem*> m_before; ///< set aside
};

/// What a sender's socket has counted; bytes are payload.
struct SenderCounts
{
    uint64_t sentBytes{0};          ///< retransmissions included
    uint64_t retransmittedBytes{0}; ///< of what was sent before
    uint64_t acknowledgedBytes{0};  ///< in order
    uint64_t packets{0};            ///< with payload
    uint64_t timeouts{0};           ///< a SYN's included
};

/**
 * A TCP socket of ns-3's with all its settings its own (no default of the process is written or read), on ports that
 * are given, and with counts. TCP itself is ns-3's.
 */
class FlowSocket : public TcpSocketBase
{
  public:
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override { return GetTypeId(); }

    /// A socket at `node`, whose link has `lineRateBps`: it is never paced faster.
    static Ptr<FlowSocket> Make(Ptr<Node> node,
                                const TcpSettings& settings,
                                Ptr<TcpCongestionOps> ops,
                                double lineRateBps);

    /// Sends a SYN from the source of `tuple` to its destination.
    void Dial(const FiveTuple& tuple);
    /// Waits at the destination of `tuple` for its source, and no other.
    void Await(const FiveTuple& tuple);
    /// Called for each ACK that acknowledges something.
    void SetAcknowledgedCallback(std::function<void()> called)
    {
        m_acknowledgedCallback = std::move(called);
    }
    /// As receiver it acknowledges this byte at once when all before it are there, as one does that answers.
    void SetLastByte(uint64_t bytes) { m_lastByte = bytes; }
    /// Takes no part in anything any more and sends nothing to the other end; idempotent.
    void Release();

    /// @name For its controller (tcp/controllers/steered.h)
    /// @{
    /// Its window, no less than a segment, and its pace in payload per second, from the next segment on.
    void Steer(uint32_t windowBytes, double payloadBps);
    /// The same before it dials.
    void SteerFromStart(uint32_t windowSegments, double payloadBps);
    /// Held, it sends nothing new.
    void SetHeld(bool held) { m_held = held; }
    /// Sends what it now may.
    void GoOn();
    /// Whether the ACK that was processed last reports that data met congestion.
    bool LastAckMarked() const { return m_lastAckMarked; }
    /// Of the ACK that was processed last; 0 where it gave none.
    Picos LastAckRtt() const { return m_sample.GetTimeStep(); }
    /// Payload bytes whose numbers were used so far.
    uint64_t NextByte() const;
    /// @}

    const SenderCounts& Counts() const { return m_counts; }
    /// Counts().acknowledgedBytes is brought up to date while an ACK is processed.
    uint64_t AcknowledgedBytes();
    /// Of data, one for each ACK that gives one: the last segment that it acknowledges, unless that was sent twice.
    const RttSamples& Rtts() const { return m_rtts; }
    uint32_t WindowBytes() const { return m_tcb->m_cWnd.Get(); }
    /// The widest window.
    double SendBufferBytes() const;
    uint32_t SlowStartThresholdBytes() const { return m_tcb->m_ssThresh.Get(); }
    uint32_t InflightBytes() const { return BytesInFlight(); }
    double PacingRateBps() const;
    bool IsPaced() const { return m_tcb->m_pacing; }
    bool IsConnected() const { return m_state.Get() == ESTABLISHED; }
    TcpCongestionOps& CongestionOps() const { return *m_congestionControl; }

  protected:
    /// @name ns3::TcpSocketBase
    /// @{
    uint32_t SendDataPacket(SequenceNumber32 first, uint32_t most, bool withAck) override;
    void SendEmptyPacket(uint8_t flags) override;
    uint32_t AvailableWindow() const override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override;
    void ReceivedData(Ptr<Packet> packet, const TcpHeader& header) override;
    Time CalculateRttSample(const TcpHeader& header, const RttHistory& history) override;
    void EstimateRtt(const TcpHeader& header) override;
    void ReTxTimeout() override;
    Ptr<TcpSocketBase> Fork() override;
    void CompleteFork(Ptr<Packet> packet,
                      const TcpHeader& header,
                      const Address& from,
                      const Address& to) override;
    /// @}

  private:
    void Configure(const TcpSettings& settings, double lineRateBps);
    void Allocate(uint32_t address, uint16_t port, uint32_t peer, uint16_t peerPort);

    std::function<void()> m_acknowledgedCallback;
    SenderCounts m_counts;
    RttSamples m_rtts;
    SequenceNumber32 m_acknowledged{1}; ///< the SYN has the number before
    SequenceNumber32 m_sent{1};         ///< the first number that was not used yet
    uint64_t m_sentBytes{0};            ///< the same without the limits of 32 bits
    uint64_t m_lastByte{0};             ///< 0: none
    uint64_t m_arrivedBytes{0};         ///< in order
    bool m_held{false};
    bool m_lastAckMarked{false};
    Time m_sample; ///< the latest that was calculated
    uint32_t m_syns{0};
    TracedCallback<Time> m_rttTrace;
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_FLOW_SOCKET_H
