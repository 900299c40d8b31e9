// SPDX-License-Identifier: GPL-2.0-or-later
// Routing of one node by the scenario's shortest paths and the switches' hash, as for RDMA.
#ifndef NS3_ENV_TCP_NETWORK_ECMP_ROUTING_H
#define NS3_ENV_TCP_NETWORK_ECMP_ROUTING_H

#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3_env/cpp/routing/routing.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3::env::tcp
{

struct FiveTupleHash
{
    size_t operator()(const FiveTuple& tuple) const { return EcmpHash(tuple, 0); }
};

struct SameFiveTuple
{
    bool operator()(const FiveTuple& a, const FiveTuple& b) const
    {
        return a.sourceIp == b.sourceIp && a.destinationIp == b.destinationIp &&
               a.sourcePort == b.sourcePort && a.destinationPort == b.destinationPort;
    }
};

/// The node whose address it is (NodeAddress).
inline uint32_t
NodeOf(uint32_t address)
{
    return (address - NodeAddress(0)) >> 8;
}

/// Of one node. A packet takes the path of its five-tuple, which is kept until it is forgotten. A host does not forward.
class EcmpRouting : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId();

    EcmpRouting(uint32_t node, bool isSwitch, std::shared_ptr<const Routing> paths);

    /// The node's next link; returns its port, 0 for the first.
    uint32_t AddLink(Ptr<NetDevice> device);
    /// No packet of `tuple` is to be expected any more.
    void Forget(const FiveTuple& tuple) { m_portOf.erase(tuple); }
    /// How many five-tuples are kept.
    size_t Known() const { return m_portOf.size(); }
    /// Payload bytes of TCP's and UDP's packets that came for this host.
    uint64_t DeliveredPayload() const { return m_deliveredPayload; }

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
    Ipv4* m_ipv4{nullptr}; ///< it holds this object
    std::vector<Ptr<Ipv4Route>> m_links;
    std::unordered_map<FiveTuple, uint32_t, FiveTupleHash, SameFiveTuple> m_portOf;
    uint64_t m_deliveredPayload{0};
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_ECMP_ROUTING_H
