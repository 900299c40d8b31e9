// SPDX-License-Identifier: GPL-2.0-or-later
// Switch with its ports: admission, PFC, queueing, ECN and telemetry at dequeue.
#ifndef NS3_ENV_RDMA_NETWORK_SWITCH_H
#define NS3_ENV_RDMA_NETWORK_SWITCH_H

#include "ecn-marker.h"
#include "packet.h"
#include "port.h"
#include "shared-buffer.h"

#include "ns3_env/cpp/contract/int-record.h"
#include "ns3_env/cpp/contract/switch-config.h"
#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/queue-stats.h"
#include "ns3_env/cpp/engine/random-source.h"

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

    /// A data frame of `wireBytes` has joined the queue, which is `queueBytes` long with it. The feedback to
    /// its source, where the frame is a sample.
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

/// Counts the flows of one egress port. Streams, which nothing steers, are none.
class FlowCounter
{
  public:
    virtual ~FlowCounter() = default;
    /// A data packet enters the queue; `packet.hop` is the port's place on the flow's path.
    virtual void OnEnqueue(const Packet& packet, Picos now) = 0;
    /// It leaves, after the count was written into it.
    virtual void OnDequeue(const Packet& packet) = 0;
    virtual uint32_t Count(Picos now) = 0;
};

/**
 * A flow counts from its first packet's arrival until its last packet leaves (Zhang 2023, Algorithm 2).
 * The switch's table of flows is one bit per hop, kept in the flow.
 */
class ExactFlowCounter final : public FlowCounter
{
  public:
    void OnEnqueue(const Packet& packet, Picos now) override;
    void OnDequeue(const Packet& packet) override;
    uint32_t Count(Picos now) override;

  private:
    uint32_t m_flows{0};
};

/// A flow counts until no packet of it came for `timeout` (Zheng 2024, App. A.1).
class TimeoutFlowCounter final : public FlowCounter
{
  public:
    explicit TimeoutFlowCounter(Picos timeout);
    void OnEnqueue(const Packet& packet, Picos now) override;
    void OnDequeue(const Packet& packet) override;
    uint32_t Count(Picos now) override;

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

/// One port of a switch with its egress queue.
class SwitchPort : public Port
{
  public:
    static TypeId GetTypeId();

    SwitchPort(NetworkContext& network, Switch& owner, uint32_t nodeId, uint32_t index);

    /// Puts the port to work once its link rate is known.
    void Configure(std::unique_ptr<EcnMarker> marker,
                   std::unique_ptr<FlowCounter> counter,
                   uint32_t telemetryUnit);
    /// From now on the egress queue is a congestion point: it sends feedback to the sources of what arrives.
    void EnableCongestionPoint(const CongestionPointConfig& config);
    /// Keeps time-weighted statistics of the egress queue from `origin` on.
    void RecordQueue(Picos origin) { m_stats.emplace(origin); }

    void Enqueue(Packet* packet, Picos now);
    /// Drops a packet that was to leave here, for which the switch has no room.
    void Drop(Packet* packet) { Lose(packet, LossCause::BufferFull); }

    uint64_t QueueBytes() const { return m_queueBytes; }
    QueueStats* Stats() { return m_stats ? &*m_stats : nullptr; }
    FlowCounter& Counter() { return *m_counter; }

  protected:
    Packet* Dequeue(Picos now) override;
    Picos NextReady(Picos now) override;
    void Receive(Packet* packet) override;

    PacketFifo m_queue;

  private:
    void WriteTelemetry(Packet& packet, Picos now);
    void Notify(const Packet& packet, const QueueFeedback& feedback);

    Switch& m_switch;
    uint64_t m_queueBytes{0};
    uint32_t m_telemetryUnit{1};
    std::unique_ptr<EcnMarker> m_marker;
    std::unique_ptr<FlowCounter> m_counter;
    std::unique_ptr<CongestionPoint> m_congestionPoint;
    std::optional<QueueStats> m_stats;
    TracedCallback<uint64_t> m_queueTrace;
    TracedCallback<const Packet&> m_markTrace;
};

/// A shared-buffer, output-queued switch.
class Switch : public Object
{
  public:
    static TypeId GetTypeId();

    Switch(NetworkContext& network, const SharedBufferConfig& config);

    SwitchPort& AddPort(uint32_t nodeId, Scheduling scheduling);
    /// Registers a connected port with the buffer; all ports, in order, before the first packet.
    void ConfigureBuffer(const NetworkRules& rules, double hostRateBps, uint32_t frameBytes);

    const std::vector<Ptr<SwitchPort>>& Ports() const { return m_ports; }
    const SharedBuffer& Buffer() const { return m_buffer; }

    /// A packet came in by `ingress`.
    void Forward(Packet* packet, SwitchPort& ingress);
    /// A packet that entered by `ingressPort` has left the queue.
    void Release(uint32_t ingressPort, uint32_t bytes);

  private:
    NetworkContext& m_network;
    SharedBufferConfig m_config;
    SharedBuffer m_buffer;
    std::vector<Ptr<SwitchPort>> m_ports;
    std::vector<bool> m_pausing; ///< ports whose peer we have paused
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_NETWORK_SWITCH_H
