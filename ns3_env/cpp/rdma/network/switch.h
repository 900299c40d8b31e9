// SPDX-License-Identifier: GPL-2.0-or-later
// Switch with its ports: admission, PFC, queueing, ECN and telemetry at dequeue.
#ifndef NS3_ENV_RDMA_NETWORK_SWITCH_H
#define NS3_ENV_RDMA_NETWORK_SWITCH_H

#include "congestion-point.h"
#include "ecn-marker.h"
#include "flow-counter.h"
#include "port.h"
#include "shared-buffer.h"

#include "ns3_env/cpp/engine/queue-stats.h"

#include <memory>
#include <optional>
#include <vector>

namespace ns3::env::rdma
{

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

  private:
    void WriteTelemetry(Packet& packet, Picos now);
    void Notify(const Packet& packet, const QueueFeedback& feedback);

    Switch& m_switch;
    PacketFifo m_queue;
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

    SwitchPort& AddPort(uint32_t nodeId);
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
