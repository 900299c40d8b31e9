// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts, switches and links of a scenario for TCP.
#pragma once

#include "network.h"
#include "port.h"
#include "tcp-settings.h"

#include "ns3/error-model.h"
#include "ns3/random-variable-stream.h"
#include "ns3_env/cpp/engine/automatic-streams.h"
#include "ns3_env/cpp/routing/routing.h"
#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"
#include "ns3_env/cpp/tcp/socket/tcp-flow.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::env::tcp
{

/// Port of a node towards a neighbour.
struct Egress
{
    uint32_t node;
    uint32_t port; ///< its index at the node
    uint32_t peer;
    double rateBps;
    std::shared_ptr<Port> egress; ///< with statistics at a switch, if the scenario records queues
};

/// The network without its flows: of the scenario its seed, nodes, links, losses and recordings of queues. Each host has
/// the address that RDMA gives it (NodeAddress). Its simulation (EventLoop) outlives it.
class Fabric
{
  public:
    /// \throws ScenarioError if links and nodes do not fit together, or a setting is out of its range
    Fabric(const Scenario& scenario, const TcpSettings& settings);

    Fabric(Fabric&&) = delete;

    /// Both ends of a flow, not started.
    /// \param sourcePort no other live flow of these hosts has it
    /// \param controller the congestion controller and its attributes (ListCongestionOps)
    /// \throws ScenarioError if there is no path or no such controller
    std::unique_ptr<TcpFlow>
    Connect(const FlowSpec& spec, uint16_t sourcePort, const ControllerSpec& controller);

    /// Egresses by node and port.
    const std::vector<Egress>& Egresses() const { return m_egresses; }
    const Egress& EgressTo(uint32_t node, uint32_t peer) const;
    const Scenario& GetScenario() const { return m_scenario; }
    const TcpSettings& Settings() const { return m_settings; }
    const Routing& Paths() const { return *m_paths; }
    /// Connections and timers that its sockets share.
    Network& Ways() { return *m_network; }
    const Network& Ways() const { return *m_network; }
    /// Bytes of the longest IP packet.
    uint32_t LongestPacket() const;

    /// Payload bytes of TCP's and UDP's packets that reached their host.
    uint64_t DeliveredPayload() const { return m_network->DeliveredPayload(); }
    /// Payload bytes of packets dropped by a full queue or lost on a link.
    uint64_t DroppedPayload() const;
    /// Losses by egress and cause, if any. A link's losses count at the egress before it.
    std::vector<LossRecord> LossRecords() const;
    /// Closes the egresses' statistics at `end`.
    void FinishQueues(Picos end);

  private:
    void CheckSettings() const;
    void BuildLink(const LinkSpec& link);
    std::shared_ptr<Port> MakePort(uint32_t node, const LinkSpec& link);
    std::unique_ptr<PacketQueue> MakeQueueAt(uint32_t node, const LinkSpec& link);
    Ptr<RateErrorModel> MakeLoss();
    void MakeAckNoise();
    std::vector<Port*> PortsOn(const FiveTuple& tuple) const;
    void RecordQueues();

    const Scenario& m_scenario;
    TcpSettings m_settings;
    std::shared_ptr<const Routing> m_paths;
    Picos m_maxBaseRtt;
    std::unique_ptr<Network> m_network;
    std::vector<std::vector<Port*>> m_ports; ///< by node and port
    std::vector<Egress> m_egresses;
    Ptr<RandomVariableStream> m_losses;
    Ptr<RandomVariableStream> m_ackNoise; ///< null: none
    int64_t m_streams;                    ///< random streams allocated so far
    AutomaticStreams m_ofControllers;     ///< BBR's
};

} // namespace ns3::env::tcp
