// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts, switches and links of a scenario on ns-3's internet stack.
#ifndef NS3_ENV_TCP_NETWORK_FABRIC_H
#define NS3_ENV_TCP_NETWORK_FABRIC_H

#include "ecmp-routing.h"
#include "egress-meter.h"
#include "tcp-flow.h"
#include "tcp-settings.h"

#include "ns3/node.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/random-variable-stream.h"
#include "ns3_env/cpp/routing/routing.h"
#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::env::tcp
{

/// Where packets leave a node for a neighbour.
struct Egress
{
    uint32_t node;
    uint32_t port; ///< its index at the node
    uint32_t peer;
    double rateBps;
    Ptr<PointToPointNetDevice> device; ///< holds a packet; the others are in the queue
    Ptr<QueueDisc> queue;
    std::shared_ptr<EgressMeter>
        meter; ///< with statistics at a switch, if the scenario records queues
};

/**
 * The network without its flows: of the scenario its seed, nodes, links, losses and recordings
 * of queues. Each host has the address that RDMA
 * gives it (NodeAddress) and no ARP. One at a time in a process (an ns-3 rule), and Simulator::Destroy after it.
 */
class Fabric
{
  public:
    /// \throws ScenarioError where links and nodes do not fit together, or a setting is out of its range
    Fabric(const Scenario& scenario, const TcpSettings& settings);

    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    /**
     * Both ends of a flow, not started.
     * \param sourcePort no other live flow of these hosts has it
     * \param controller the congestion controller and its attributes (ListCongestionOps)
     * \throws ScenarioError where there is no path or no such controller
     */
    std::unique_ptr<TcpFlow>
    Connect(const FlowSpec& spec, uint16_t sourcePort, const ControllerSpec& controller);

    /// By node and port.
    const std::vector<Egress>& Egresses() const { return m_egresses; }
    const Egress& EgressTo(uint32_t node, uint32_t peer) const;
    const Scenario& GetScenario() const { return m_scenario; }
    const TcpSettings& Settings() const { return m_settings; }
    const Routing& Paths() const { return *m_paths; }
    Ptr<Node> NodeAt(uint32_t node) const { return m_nodes[node]; }
    const EcmpRouting& RoutingAt(uint32_t node) const { return *m_routings[node]; }

    /// Payload bytes of TCP's and UDP's packets that reached their host.
    uint64_t DeliveredPayload() const;
    /// Payload bytes of packets that a queue had no room for, or that a link lost.
    uint64_t DroppedPayload() const;
    /// By egress and cause, where anything was lost. A link's loss is one of the egress before it.
    std::vector<LossRecord> LossRecords() const;
    /// Payload bytes of UDP's datagrams of `stream` that were lost.
    uint64_t LostOf(const FiveTuple& stream) const;
    /// Closes the egresses' statistics at `end`.
    void FinishQueues(Picos end);

  private:
    void CheckSettings() const;
    void BuildNodes();
    void BuildLink(const LinkSpec& link);
    Ptr<PointToPointNetDevice> AddDevice(uint32_t node, double rateBps);
    Ptr<QueueDisc> AddQueue(uint32_t node, Ptr<PointToPointNetDevice> device, const LinkSpec& link);
    void AddLoss(Ptr<PointToPointNetDevice> device);
    void RecordQueues();
    void Forget(const TcpFlow& flow);

    const Scenario& m_scenario;
    TcpSettings m_settings;
    std::shared_ptr<const Routing> m_paths;
    Picos m_maxBaseRtt;
    std::vector<Ptr<Node>> m_nodes;
    std::vector<Ptr<EcmpRouting>> m_routings;
    std::vector<Egress> m_egresses;
    Ptr<RandomVariableStream> m_losses;
    int64_t m_streams; ///< of random numbers, handed out so far
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_FABRIC_H
