// SPDX-License-Identifier: GPL-2.0-or-later
// Routing of one node by the scenario's shortest paths and the switches' hash, as for RDMA.
#include "ecmp-routing.h"

#include "ns3/ipv4.h"
#include "ns3/net-device.h"
#include "ns3/output-stream-wrapper.h"

#include <array>

namespace ns3::env::tcp::stock
{

namespace
{

/// Five-tuple of a packet from which `header` was removed.
FiveTuple
FiveTupleOf(const Packet& segment, const Ipv4Header& header)
{
    std::array<uint8_t, 4> ports{};
    segment.CopyData(ports.data(), ports.size());
    return {header.GetSource().Get(),
            header.GetDestination().Get(),
            static_cast<uint16_t>(ports[0] << 8 | ports[1]),
            static_cast<uint16_t>(ports[2] << 8 | ports[3])};
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(EcmpRouting);

TypeId
EcmpRouting::GetTypeId()
{
    static TypeId tid =
        TypeId("stock::EcmpRouting").SetParent<Ipv4RoutingProtocol>().SetGroupName("Tcp");
    return tid;
}

EcmpRouting::EcmpRouting(uint32_t node, bool isSwitch, std::shared_ptr<const Routing> paths)
    : m_node(node),
      m_isSwitch(isSwitch),
      m_paths(std::move(paths))
{
}

uint32_t
EcmpRouting::AddLink(Ptr<NetDevice> device)
{
    auto link = Create<Ipv4Route>();
    link->SetSource(Ipv4Address(NodeAddress(m_node)));
    link->SetGateway(Ipv4Address::GetAny());
    link->SetOutputDevice(device);
    m_links.push_back(link);
    return static_cast<uint32_t>(m_links.size() - 1);
}

uint32_t
EcmpRouting::PortOf(const FiveTuple& tuple)
{
    const auto [entry, isNew] = m_portOf.try_emplace(tuple, 0);
    if (isNew)
    {
        for (const auto& [node, link] :
             m_paths->Path(NodeOf(tuple.sourceIp), NodeOf(tuple.destinationIp), tuple))
        {
            entry->second = node == m_node ? link->port : entry->second;
        }
    }
    return entry->second;
}

Ptr<Ipv4Route>
EcmpRouting::RouteOutput(Ptr<Packet>, const Ipv4Header&, Ptr<NetDevice>, Socket::SocketErrno& error)
{
    if (m_isSwitch || m_links.empty()) // a switch originates no packets
    {
        error = Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }
    error = Socket::ERROR_NOTERROR;
    return m_links.front();
}

bool
EcmpRouting::RouteInput(Ptr<const Packet> packet,
                        const Ipv4Header& header,
                        Ptr<const NetDevice> device,
                        const UnicastForwardCallback& forward,
                        const MulticastForwardCallback&,
                        const LocalDeliverCallback& deliver,
                        const ErrorCallback& refuse)
{
    if (header.GetProtocol() != TCP_PROTOCOL && header.GetProtocol() != UDP_PROTOCOL)
    {
        refuse(packet, header, Socket::ERROR_NOROUTETOHOST);
        return false;
    }
    if (m_isSwitch)
    {
        forward(m_links[PortOf(FiveTupleOf(*packet, header))], packet, header);
        return true;
    }
    if (NodeOf(header.GetDestination().Get()) != m_node)
    {
        refuse(packet, header, Socket::ERROR_NOROUTETOHOST);
        return false;
    }
    deliver(packet, header, static_cast<uint32_t>(m_ipv4->GetInterfaceForDevice(device)));
    return true;
}

void
EcmpRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit) const
{
    for (const auto& [tuple, port] : m_portOf)
    {
        *stream->GetStream() << Ipv4Address(tuple.sourceIp) << ':' << tuple.sourcePort << " -> "
                             << Ipv4Address(tuple.destinationIp) << ':' << tuple.destinationPort
                             << " by port " << port << '\n';
    }
}

} // namespace ns3::env::tcp::stock
