// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a TCP connection that sends a message: windows, pacing, losses, time-outs, and counts.
#pragma once

#include "delivery-rate.h"
#include "endpoint.h"
#include "round-trips.h"
#include "scoreboard.h"

#include "ns3/tcp-recovery-ops.h"
#include "ns3_env/cpp/engine/rtt-samples.h"

#include <cstdint>
#include <functional>

namespace ns3::env::tcp
{

/// Counts of a sender; bytes are payload.
struct SenderCounts
{
    uint64_t sentBytes{0};          ///< retransmissions included
    uint64_t retransmittedBytes{0}; ///< of data sent before
    uint64_t acknowledgedBytes{0};  ///< in order
    uint64_t packets{0};            ///< with payload
    uint64_t timeouts{0};           ///< a SYN's included
};

/// Opens a connection and sends a message on it. Loss recovery is RFC 6675 (without SACK: Reno's guesses) with PRR,
/// time-outs RFC 6298, ECN RFC 3168, all in ns-3's reading of them.
class Sender final : public Endpoint
{
  public:
    Sender(Network& network,
           const TcpSettings& settings,
           Ptr<TcpCongestionOps> control,
           double lineRateBps,
           uint32_t node);

    /// Sends a SYN on `out`, and a message of `messageBytes`.
    void Dial(Channel& out, uint64_t messageBytes);
    /// Called for each ACK that acknowledges something.
    void SetAcknowledgedCallback(std::function<void()> called)
    {
        m_acknowledgedCallback = std::move(called);
    }
    /// Called for each RTT of data, also one like that before; ps.
    void SetRttCallback(std::function<void(Picos)> called) { m_rttCallback = std::move(called); }

    // --- For its controller (tcp/controllers/steered.h)
    /// Its window, no less than a segment, and its pace in payload per second, from the next segment on.
    void Steer(uint32_t windowBytes, double payloadBps);
    /// The same before it dials.
    void SteerFromStart(uint32_t windowSegments, double payloadBps);
    /// Moves the paced segment that waits to the time of the present pacing rate.
    void Repace();
    /// While held, it sends no new data.
    void SetHeld(bool held) { m_held = held; }
    /// Sends as much as it now may.
    void GoOn();
    /// Reports whether the last processed ACK signals that data met congestion.
    bool LastAckMarked() const { return m_lastAckMarked; }
    /// RTT of the last processed ACK; 0 if it gave none.
    Picos LastAckRtt() const { return m_roundTrips.LastSample(); }
    /// Payload bytes with sequence numbers used so far.
    uint64_t NextByte() const { return m_sentBytes; }

    const SenderCounts& Counts() const { return m_counts; }
    /// Counts().acknowledgedBytes is brought up to date while an ACK is processed.
    uint64_t AcknowledgedBytes();
    /// RTTs of data, at most one per ACK: of the last segment that it acknowledges, unless that was retransmitted.
    const RttSamples& Rtts() const { return m_rtts; }
    uint32_t WindowBytes() const { return m_tcb->m_cWnd.Get(); }
    /// The widest window.
    double SendBufferBytes() const { return m_settings.socketBufferBytes; }
    uint32_t SlowStartThresholdBytes() const { return m_tcb->m_ssThresh.Get(); }
    uint32_t InflightBytes() const { return m_board.InFlight(); }
    double PacingRateBps() const
    {
        return static_cast<double>(m_tcb->m_pacingRate.Get().GetBitRate());
    }
    bool IsPaced() const { return m_tcb->m_pacing; }

  private:
    /// An ACK that is processed.
    struct AckFacts
    {
        SequenceNumber32 number;
        SequenceNumber32 before; ///< the first byte that was not acknowledged
        bool repeated{false};    ///< it reports a gap
        uint32_t delivered{0};   ///< bytes that were acknowledged or SACKed
        uint32_t segments{0};    ///< whole segments among them
        uint32_t repeatsBefore{0};
    };

    // --- Endpoint
    void Process(const Segment& segment) override;
    void CancelTimers() override;
    void SendEmpty(uint8_t flags) override;

    // --- The connection and its permission to send (sender.cc)
    void SendSyn();
    void OpenWith(const Segment& synAck);
    void Supply();
    void Write(uint32_t bytes);
    uint32_t FreeBytes() const { return m_settings.socketBufferBytes - m_board.Size(); }
    uint32_t Inflight();
    uint32_t AvailableWindow();
    void SendWhatMayGo();
    uint32_t SendData(SequenceNumber32 first, uint32_t most);
    bool IsPacingNow() const;
    void SetPacingTimer(uint32_t bytes);
    Picos PacingGap() const
    {
        return m_tcb->m_pacingRate.Get().CalculateBytesTxTime(m_pacedBytes).GetTimeStep();
    }
    void UpdatePacingRate();

    // --- ACKs (sender-acks.cc)
    void TakeRtt(SequenceNumber32 ack);
    void UpdateWindow(const Segment& segment);
    void TakeAck(const Segment& segment);
    void ProcessAck(const Segment& segment);
    void SeeEcho(const Segment& segment, AckFacts& ack);
    void EnterCwr(const AckFacts& ack);
    void Advance(AckFacts& ack);
    void CountSegments(AckFacts& ack);
    void Increase(uint32_t segments);
    void OnFullAck(AckFacts& ack);
    void OnProgress(SequenceNumber32 ack, bool restartTimer);

    // --- Losses (sender-losses.cc)
    void OnRepeatedAck(const AckFacts& ack);
    void EnterRecovery(const AckFacts& ack);
    void SendAgain();
    void OnPartialAck(const AckFacts& ack);
    void UpdateRto();
    void OnTimer();
    void OnTimeOut();

    Scoreboard m_board;
    DeliveryRate m_rate;
    RoundTrips m_roundTrips;
    Ptr<TcpRecoveryOps> m_recovery;
    bool m_hasOwnControl; ///< the congestion control sets window and pace by itself

    Timer m_retransmission;
    Timer m_pacing;
    Timer m_soon;             ///< sends a picosecond after the application wrote
    Timer m_connected;        ///< notifies the application
    uint32_t m_pacedBytes{0}; ///< of the segment after which the pacing timer was set
    Picos m_pacedAt{0};
    Picos m_rto{0};

    uint64_t m_message{0};
    uint64_t m_written{0};
    uint32_t m_receiverWindow{0};
    SequenceNumber32 m_highestAck{0};
    SequenceNumber32 m_highestArrived{0};
    SequenceNumber32 m_echoed{0};   ///< last ACK that reported congestion
    SequenceNumber32 m_answered{0}; ///< first byte of the segment that answered an echo last
    SequenceNumber32 m_recover{0};  ///< highest byte sent when the last loss was detected
    bool m_recoverHolds{false};
    bool m_firstPartial{true};
    uint32_t m_repeats{0};
    uint32_t m_oddBytes{0}; ///< acknowledged and not yet counted as a segment

    std::function<void()> m_acknowledgedCallback;
    std::function<void(Picos)> m_rttCallback;
    SenderCounts m_counts;
    RttSamples m_rtts;
    SequenceNumber32 m_acknowledged{1}; ///< the SYN has the number before
    SequenceNumber32 m_sent{1};         ///< the first number that was not used yet
    uint64_t m_sentBytes{0};            ///< the same without the limits of 32 bits
    bool m_held{false};
    bool m_lastAckMarked{false};
};

} // namespace ns3::env::tcp
