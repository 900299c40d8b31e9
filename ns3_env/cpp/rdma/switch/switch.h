// SPDX-License-Identifier: GPL-2.0-or-later
// Switch with its ports: admission, PFC, queueing, ECN and telemetry at dequeue.
#pragma once

#include "ecn-marker.h"
#include "shared-buffer.h"

#include "ns3_env/cpp/contract/int-record.h"
#include "ns3_env/cpp/contract/switch-config.h"
#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/queue-stats.h"
#include "ns3_env/cpp/engine/random-source.h"
#include "ns3_env/cpp/rdma/link/packet.h"
#include "ns3_env/cpp/rdma/link/port.h"
#include "ns3_env/cpp/rdma/telemetry/remaining-bytes.h"
#include "ns3_env/cpp/rdma/telemetry/utilisation-meter.h"

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ns3::env::rdma
{

/// The congestion point of one egress queue (Jiang 2015, sec. 2.2; IEEE 802.1Q, 32.8 and 32.9).
class CongestionPoint
{
  public:
    /// \param id of the point, unique in the network
    CongestionPoint(const CongestionPointConfig& config, uint32_t id, RandomSource& random);

    /// Counts a data frame of `wireBytes` that has joined the queue, now `queueBytes` long. \returns the feedback to
    /// its source if the frame is a sample
    std::optional<QueueFeedback> OnArrival(uint32_t wireBytes, uint64_t queueBytes)
    {
        m_untilSample -= wireBytes;
        if (m_untilSample > 0 && !m_byProbability) [[likely]]
        {
            return std::nullopt;
        }
        return Look(queueBytes);
    }

  private:
    std::optional<QueueFeedback> Look(uint64_t queueBytes);
    QueueFeedback Sample(uint64_t queueBytes);
    /// Bytes until the next sample (NewCpSampleBase of the standard).
    double Interval(uint8_t quantised) const;

    CongestionPointConfig m_config;
    uint32_t m_id;
    RandomSource* m_random;
    bool m_byProbability;
    double m_untilSample;
    uint64_t m_queueBefore{0}; ///< q_old, at the last sample
};

/// Counts the flows of one egress port: a flow counts until no packet of it arrived for `timeout` (Zheng 2024, App.
/// A.1).
class RecentFlows
{
  public:
    explicit RecentFlows(Picos timeout);
    /// Counts a data packet that enters the queue. Streams do not count as flows.
    void OnEnqueue(const Packet& packet, Picos now);
    uint32_t Count(Picos now);

  private:
    struct Entry
    {
        uint32_t flow;
        Picos seen;
    };

    Picos m_timeout;
    std::list<Entry> m_bySeen; ///< latest first
    std::unordered_map<uint32_t, std::list<Entry>::iterator> m_entries;
};

class NetworkRules;

class Switch;

/// One port of a switch with its egress queue. Of the flows that leave by it each counts from its first packet's arrival
/// until its last packet leaves (Zhang 2023, Algorithm 2), for which the switch's table is one bit per hop, kept in the
/// flow; or by a timeout.
class SwitchPort : public Port
{
  public:
    static TypeId GetTypeId();

    SwitchPort(NetworkContext& network, Switch& owner, uint32_t nodeId, uint32_t index);

    /// Configures the port once its link rate is known.
    void Configure(std::unique_ptr<EcnMarker> marker, uint32_t telemetryUnit);
    MarkingThresholds Thresholds() const { return m_marker->Thresholds(); }
    /// Applies to the packets that leave from now on.
    void SetThresholds(const MarkingThresholds& thresholds);
    /// Counts each flow from now on until none of its packets arrived for `timeout`.
    void CountRecentFlows(Picos timeout);
    /// Makes the egress queue a congestion point: it sends feedback to the sources of arriving packets.
    void EnableCongestionPoint(const CongestionPointConfig& config);
    /// Counts from now on the order of data that this port sends to its host, flow by flow, if paths may change.
    virtual void CountOrder() {}
    /// Starts the watchdog of its pauses, if it is a port with one.
    virtual void StartWatchdog(const PfcWatchdogConfig&) {}
    /// Storms that its watchdog has detected; 0 without one.
    virtual uint64_t PauseStorms() const { return 0; }
    virtual Picos StormTime(Picos) const { return 0; }
    /// Keeps time-weighted statistics of the egress queue from `origin` on.
    void RecordQueue(Picos origin) { m_stats = std::make_unique<QueueStats>(origin); }

    [[gnu::always_inline]] void Enqueue(Packet* packet, Picos now);
    /// Reports whether an arriving packet would leave at once, without a queue observer.
    [[gnu::always_inline]] bool IsOpen(Picos now);
    /// Sends a packet on through an open port: as Enqueue(), without a queue.
    [[gnu::always_inline]] void PassOn(Packet* packet, Picos now);
    /// Drops a packet that was to leave here, for which the switch has no room, or sends its header on.
    void Drop(Packet* packet);
    /// Trims data packets that it would drop.
    void Trim() { m_trims = true; }

    uint64_t QueueBytes() const { return m_queueBytes; }
    const PacketFifo& Queue() const { return m_queue; }
    QueueStats* Stats() { return m_stats.get(); }
    uint32_t FlowCount(Picos now) { return m_recent ? m_recent->Count(now) : m_flows; }

    void Kick() override { KickAs(*this); }

  protected:
    friend Port;
    Packet* Dequeue(Picos now);
    Picos NextReady(Picos now) const { return IsPaused() || m_queue.IsEmpty() ? NEVER : now; }
    void Receive(Packet* packet) override;
    /// Sends on a packet that precedes data.
    void PassAhead(Packet* packet);

    void OnFail(Picos now) override;
    void OnRecover() override;
    /// Bytes that wait here of one class, or of all if there is one class.
    uint64_t BytesOf(uint32_t) const { return m_queueBytes; }
    /// Drops what waits here, likewise.
    void Discard(uint32_t trafficClass, LossCause cause, Picos now);
    /// Further work on joining a queue with a congestion point, and on leaving one of a port with several. `bytesLeft`:
    /// of that queue; null: nothing is marked.
    void Sample(const Packet& packet, CongestionPoint& point, uint64_t queueBytes);
    void Leave(Packet& packet, EcnMarker* marker, uint64_t bytesLeft, Picos now);

    static constexpr bool LOOKS_AFTER_EACH_FRAME = false;

    alignas(CACHE_LINE) PacketFifo m_queue;

  private:
    [[gnu::always_inline]] Packet* TakeFirst(Picos now);
    void CountFlow(const Packet& packet, Picos now);
    [[gnu::always_inline]] void TakeOff(const Packet& packet, Picos now);
    [[gnu::always_inline]] void Mark(Packet& packet, EcnMarker& marker, uint64_t bytesLeft);
    [[gnu::always_inline]] void WriteOnLeaving(Packet& packet, uint64_t bytesLeft, Picos now);
    [[gnu::always_inline]] void WriteTelemetry(Packet& packet, uint64_t bytesLeft, Picos now);
    void WriteOneByte(Packet& packet, uint64_t bytesLeft, Picos now);
    void WriteShorterBacklog(Packet& packet, Picos now);
    void Notify(const Packet& packet, const QueueFeedback& feedback);
    /// Sends a header on behind no data, with a record of the queue that its packet would have waited in.
    void SendHeader(Packet* packet);

    Switch& m_switch;
    uint64_t m_queueBytes{0};
    int64_t m_mostUnmarked{INT64_MAX}; ///< up to this queue `m_marker` is not called
    uint32_t m_flows{0};               ///< whose first, but not last packet has arrived
    uint32_t m_telemetryUnit{1};
    bool m_trims{false};
    std::unique_ptr<QueueStats> m_stats;
    std::unique_ptr<CongestionPoint> m_congestionPoint;
    std::unique_ptr<RecentFlows> m_recent; ///< null: `m_flows` counts
    std::unique_ptr<EcnMarker> m_marker;
    TraceSource<uint64_t> m_queueTrace;
    TraceSource<const Packet&> m_markTrace;
    std::unique_ptr<UtilisationMeter> m_meter;   ///< from the first packet on that requests it
    std::unique_ptr<RemainingBytes> m_remaining; ///< likewise
};

/// A shared-buffer, output-queued switch.
class Switch : public Object
{
  public:
    static TypeId GetTypeId();

    Switch(NetworkContext& network, const SharedBufferConfig& config);

    /// A port with the next index.
    void AddPort(Ptr<SwitchPort> port) { m_ports.push_back(port); }
    /// Registers a connected port with the buffer; all ports, in order, before the first packet.
    void ConfigureBuffer(const NetworkRules& rules, double hostRateBps, uint32_t frameBytes);

    const std::vector<Ptr<SwitchPort>>& Ports() const { return m_ports; }
    const SharedBuffer& Buffer() const { return m_buffer; }

    /// Forwards a packet that arrived by `ingress`.
    void Forward(Packet* packet, SwitchPort& ingress);
    /// Releases the buffer of a packet that entered by `ingressPort` and has left the queue.
    [[gnu::always_inline]] void Release(uint32_t ingressPort, uint32_t bytes);

    // --- The link at a port
    /// Forgets the pause of a neighbour, as the link has failed.
    virtual void ForgetPause(const SwitchPort& port) { m_buffer.ForgetPause(port.Index()); }
    /// Pauses the neighbour of a repaired link if its packets still in the buffer require it.
    virtual void PauseIfNeeded(SwitchPort& port);

  protected:
    /// Registers the next port's buffer accounts.
    virtual void AddAccounts(uint64_t headroomBytes, uint32_t alphaShift);

    /// Forward() against one of several accounts that an ingress port has in the buffer.
    void ForwardAs(Packet* packet, SwitchPort& ingress, uint32_t account, uint32_t own);

    NetworkContext& m_network;
    SharedBufferConfig m_config;
    SharedBuffer m_buffer;
    std::vector<Ptr<SwitchPort>> m_ports;

  private:
    /// Forwards a packet that does not leave at once.
    [[gnu::noinline]] void ForwardByQueue(Packet* packet, SwitchPort& ingress);
    /// Admits a packet to an account of the buffer; calls `pause()` if that requires a pause.
    template <class Pause>
    [[gnu::always_inline]] void Admit(Packet* packet, uint32_t account, Pause pause);
};

} // namespace ns3::env::rdma
