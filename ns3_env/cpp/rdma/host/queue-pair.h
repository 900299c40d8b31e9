// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of a flow's queue pair: window, pacing, recovery from losses, retransmission timeout.
#pragma once

#include "recycled-entropies.h"

#include "ns3/event-id.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/reliability-config.h"
#include "ns3_env/cpp/engine/constant-rate.h"
#include "ns3_env/cpp/engine/flow-spec.h"
#include "ns3_env/cpp/rdma/link/packet.h"
#include "ns3_env/cpp/rdma/link/wire-flow.h"
#include "ns3_env/cpp/rdma/recovery/go-back-n.h"
#include "ns3_env/cpp/rdma/recovery/selective-repeat.h"

#include <memory>

namespace ns3::env::rdma
{

class Nic;

/// A path through the network: the egress port at each switch, sender's side first.
using Route = std::vector<SwitchPort*>;

/// Reaction of a receiver to a data packet.
enum class Answer : uint8_t
{
    None,
    Now,   ///< the packet has become its answer
    Later, ///< as Now, but it goes to the card later
};

/// Both ends of a reliable connection that carries one message: the sender's queue pair (FlowState is
/// its face to the congestion controller) and the receiver's. Or of an unreliable one, which sends only by a timetable
/// and is not answered (SetOpenLoop).
class QueuePair final : public WireFlow
{
  public:
    QueuePair(const FlowSpec& spec, PathFacts path, Ptr<CongestionControl> control);

    // --- Set up by the network builder
    void SetPath(Nic& sender, Route forward, Route backward);
    const Route& Forward() const { return m_forward; } ///< the switches' ports
    void SetRetransmissionTimeout(Picos timeout) { m_timeout = timeout; }
    /// Stops switches from writing records, though packets keep room for them.
    void DropRecords() { m_telemetry = Telemetry::None; }
    bool HasRecords() const
    {
        return m_telemetry == Telemetry::Exact || m_telemetry == Telemetry::Quantised;
    }
    void SetRecovery(const GoBackN& recovery);
    /// Enables selective repeat. At most `capBytes` of payload are in flight, from the first unacknowledged byte on.
    void RepeatSelectively(const SelectiveRepeatConfig& config, double capBytes);
    /// Sets how the cards at both ends answer its packets.
    void SetNic(const NicConfig& config);
    /// Makes it a stream: full packets at `rateBps` (on the wire) until `stop`, whether they arrive or not. Packets
    /// that the NIC's other flows or a pause delay leave as soon as possible, but not after the stop.
    void SetOpenLoop(double rateBps, Picos stop);
    /// Lets switches choose its packets' paths: it has no routes.
    void SetSteered(std::unique_ptr<SteeredFlow> steered) { m_steered = std::move(steered); }
    /// Chooses the entropies by which steered packets find their paths.
    void RecycleEntropies(const RecycledEntropies& entropies);

    void Start() override;
    void AwaitDelivery(DeliveryListener& listener) override;
    void Abort() override;

    // --- Sender
    /// Earliest time at which the flow may send; NEVER while no bytes are left or the window is closed.
    Picos ReadyAt() const;
    /// Earliest time by pacing only, whatever is in flight.
    Picos PacedUntil() const;
    /// Returns the next packet; call only when ReadyAt() <= now.
    Packet* NextPacket(NetworkContext& network, Picos now);
    /// Handles an ACK or NACK; does not release the packet.
    void OnFeedback(const Packet& packet, Picos now);
    /// Handles a switch's feedback frame; does not release the packet.
    void OnNotification(const Packet& packet, Picos now);
    void SetHeld(bool held) override;
    void WindowAndRateWritten() override;
    /// Its place among its card's flows, if these are many.
    static constexpr uint32_t NO_PLACE = UINT32_MAX;
    uint32_t Place() const { return m_place; }
    void SetPlace(size_t place) { m_place = static_cast<uint32_t>(place); }
    /// Window and rate; changes since the last report go to the NIC's trace source.
    Pacing& WindowAndRate() { return m_pacing; }

    // --- Receiver
    /// Turns a data packet into its ACK or NACK in place, if it is answered.
    Answer OnData(Packet& packet, Picos now);

    Nic& Sender() const { return *m_sender; }
    SwitchPort& TowardsSource(uint8_t hop) const override;
    CongestionControl& Controller() const override { return *m_controller; }

    bool IsFinished() const { return m_endTime >= 0; }
    Picos EndTime() const override { return m_endTime; }
    /// Bytes received in order; for a stream, all that arrived.
    uint64_t ReceivedBytes() const override { return IsFinished() ? m_sizeBytes : m_expected; }
    uint64_t RetransmittedBytes() const override { return m_retransmitted; }
    uint64_t Timeouts() const override { return m_timeouts; }
    uint64_t TransmittedBytes() const override { return m_highestSent + m_retransmitted; }
    uint64_t OutOfOrderPackets() const override { return m_outOfOrder; }
    uint64_t DuplicateBytes() const override { return m_duplicates; }
    Picos PauseTime() const override { return m_pauseAtEnd - m_pauseAtStart; }
    void ClosePauseAccount(Picos now);

  private:
    /// Deviations from most flows, a bit each: one look identifies such flows.
    enum Option : uint8_t
    {
        ENTROPIES = 1, ///< m_entropies
        STREAM = 2,
        SELECTIVE = 4,
        OWN_ANSWERS = 8,  ///< m_answers
        KEEPS_PLACE = 16, ///< an ACK beyond the next sequence number does not move it on
        AWAITED = 32,     ///< m_awaiting
        SPARSE = 64       ///< m_sparse
    };

    /// Telemetry that only some packets carry.
    struct SparseTelemetry
    {
        uint32_t wireBytes; ///< of a packet that carries it
        Picos every;        ///< minimum time between two of them
        Picos nextAt{0};
    };

    /// Both ends of selective repeat.
    struct Selective
    {
        SelectiveRepeatConfig config;
        double capBytes;
        SelectiveSender sender;
        SelectiveReceiver receiver;
    };

    /// Both ends of answers that are delayed, or for several packets.
    struct Answers
    {
        NicConfig config;
        uint32_t unasked{0};  ///< sender: packets since the last request for an ACK
        uint64_t askedTo{0};  ///< sender: that last one's end
        bool owesMark{false}; ///< receiver: a mark that no ACK has reported yet
    };

    void SetOption(Option option, bool on)
    {
        m_options = static_cast<uint8_t>(on ? m_options | option : m_options & ~option);
        UpdatePlainBytes();
    }
    void UpdatePlainBytes()
    {
        const bool plain = !m_isHeld && (m_options & (SELECTIVE | OWN_ANSWERS)) == 0;
        m_plainBytes = plain ? m_sizeBytes : 0;
    }
    /// Deviations that matter when a packet leaves or arrives.
    static constexpr uint8_t OF_PACKETS = ENTROPIES | STREAM | SELECTIVE | OWN_ANSWERS | SPARSE;
    /// The first packet number beyond this number of bytes.
    uint64_t PacketsOf(uint64_t bytes) const
    {
        return (bytes + m_facts.payloadBytes - 1) / m_facts.payloadBytes;
    }
    bool HasLost() const { return m_selective && m_selective->sender.HasLost(); }
    uint64_t BesideTrimmed() const;
    Picos ReadyByOptions() const;
    bool IsFull() const;
    Packet* NextPacketByOptions(NetworkContext& network, Picos now);
    Packet* MakePacket(NetworkContext& network, Picos now);
    uint32_t WayOf(const Packet& packet, Picos now);
    void AskForAck(Packet& packet, bool again);
    void TakeTelemetryOff(Packet& packet, Picos now);
    bool IsAnswered(const Packet& packet, Picos now, PacketKind& answer);
    bool IsAnsweredSelectively(Packet& packet, PacketKind& answer);
    Answer OnDataByOptions(Packet& packet, Picos now);
    Answer AnswerByOptions(Packet& packet, Picos now);
    Answer AnswerByCard(Packet& packet, PacketKind answer, bool maySkip);
    void TurnAround(Packet& packet, PacketKind answer);
    Nic& Receiver() const;
    void SendCnp(Picos sentAt);
    void OnSelectiveAck(const Packet& packet, Picos now);
    void OnTrimNack(const Packet& packet, Picos now);
    Picos Patience() const;
    void StopStream();
    void OnTimer();
    void ArmTimer(Picos delay);
    void GoBack(uint64_t sequence, Picos now);
    void Finish(Picos now);

    // members that each packet reads and writes
    Route m_forward;
    Route m_backward;
    std::unique_ptr<const OpenLoop> m_openLoop;
    uint64_t m_expected{0}; ///< by the receiver
    Ptr<CongestionControl> m_controller;
    Nic* m_sender{nullptr};
    uint64_t m_highestSent{0};
    uint64_t m_retransmitted{0};
    Picos m_endTime{-1};
    Picos m_lastProgress{0};
    uint32_t m_backoff{0};
    uint32_t m_headerBytes; ///< of a data packet
    uint32_t m_ackBytes;
    Telemetry m_telemetry;
    bool m_tellsRemaining; ///< packets with telemetry report the flow's remaining bytes to switches
    uint8_t m_options{0};  ///< of Option; both ends read it while packets are in flight
    bool m_isHeld{false};  ///< the sender waits for a decision
    uint64_t m_plainBytes{
        0}; ///< up to here only pacing decides when a packet is ready: the size, or 0
    uint32_t m_place{NO_PLACE};

    GoBackN m_recovery;
    PathFacts m_facts;

    // sender
    Picos m_pauseAtStart{0};
    Picos m_pauseAtEnd{0};

    // retransmission timer: one pending event, moved on lazily
    Picos m_timeout{0};
    uint64_t m_timeouts{0};
    EventId m_timer;

    // receiver
    uint64_t m_nackedGap{UINT64_MAX}; ///< first byte missing at the last NACK
    Picos m_nextNackAt{0};

    uint64_t m_outOfOrder{0};
    uint64_t m_duplicates{0};
    std::unique_ptr<Selective> m_selective;
    std::unique_ptr<Answers> m_answers;
    std::unique_ptr<SparseTelemetry> m_sparse;
    std::unique_ptr<RecycledEntropies> m_entropies;
    DeliveryListener* m_awaiting{nullptr}; ///< of the last byte
};

} // namespace ns3::env::rdma
