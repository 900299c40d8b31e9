// SPDX-License-Identifier: GPL-2.0-or-later
// Routing of one node by the scenario's shortest paths and the switches' hash, as for RDMA.
#ifndef NS3_ENV_TEST_TCP_STOCK_ECMP_ROUTING_H
#define NS3_ENV_TEST_TCP_STOCK_ECMP_ROUTING_H

#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3_env/cpp/routing/routing.h"
#include "ns3_env/cpp/tcp/network/network.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3::env::tcp::stock
{

/// The node whose address it is (NodeAddress).
inline uint32_t
NodeOf(uint32_t address)
{
    return (address - NodeAddress(0)) >> 8;
}

/// ECMP at one node. A packet follows the path of its five-tuple. A host does not forward.
class EcmpRouting : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId();

    EcmpRouting(uint32_t node, bool isSwitch, std::shared_ptr<const Routing> paths);

    /// The node's next link; returns its port, 0 for the first.
    uint32_t AddLink(Ptr<NetDevice> device);

    /// @name ns3::Ipv4RoutingProtocol
    /// @{
    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv4Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override;
    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback& multicast,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback& refuse) override;
    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4> ipv4) override { m_ipv4 = PeekPointer(ipv4); }
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const override;
    /// @}

  private:
    uint32_t PortOf(const FiveTuple& tuple);

    uint32_t m_node;
    bool m_isSwitch;
    std::shared_ptr<const Routing> m_paths;
    Ipv4* m_ipv4{nullptr}; ///< the owner of this object
    std::vector<Ptr<Ipv4Route>> m_links;
    std::unordered_map<FiveTuple, uint32_t, FiveTupleHash, SameFiveTuple> m_portOf;
};

} // namespace ns3::env::tcp::stock

#endif // NS3_ENV_TEST_TCP_STOCK_ECMP_ROUTING_H
