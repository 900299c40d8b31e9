// SPDX-License-Identifier: GPL-2.0-or-later
// Port of a switch that chooses for each packet by which port it leaves.
#include "steered-port.h"

#include "queue-pair.h"

namespace ns3::env::rdma
{

namespace
{

constexpr uint32_t WAY_FACTOR = 0x9e3779b1; ///< odd, so that no way is lost: 2^32 / golden ratio

} // namespace

NS_OBJECT_ENSURE_REGISTERED(SteeredPort);

TypeId
SteeredPort::GetTypeId()
{
    static TypeId tid = TypeId("rdma::SteeredPort").SetParent<SwitchPort>().SetGroupName("Rdma");
    return tid;
}

SteeredPort::SteeredPort(NetworkContext& network,
                         Switch& owner,
                         uint32_t nodeId,
                         uint32_t index,
                         Steering& steering)
    : SwitchPort(network, owner, nodeId, index),
      m_steering(steering)
{
}

void
SteeredPort::CountOrder()
{
    m_countsOrder = true;
    WatchArrivals();
}

void
SteeredPort::Receive(Packet* packet)
{
    SwitchPort* egress = m_steering.NextPort(*packet, NodeId(), packet->arrival);
    // Routes that change while a packet is on its way may lead it round and round.
    if (egress == nullptr || packet->hop >= MAX_PATH_SWITCHES)
    {
        LoseByFailure(packet);
        return;
    }
    if (egress->IsDown())
    {
        egress->LoseByFailure(packet);
        return;
    }
    if (packet->kind == PacketKind::Data)
    {
        packet->way = ((packet->hop == 0 ? 0 : packet->way) + egress->Index() + 1) * WAY_FACTOR;
        if (packet->intHops == MAX_INT_HOPS)
        {
            packet->telemetry = Telemetry::None; // a detour longer than a packet has room for
        }
    }
    m_steering.Tell(*packet, *egress);
    SwitchPort::Receive(packet);
}

bool
SteeredPort::Passes(Packet* packet)
{
    if (!SwitchPort::Passes(packet))
    {
        return false;
    }
    if (m_countsOrder && packet->kind == PacketKind::Data)
    {
        packet->flow->Steered()->Order().OnArrival(packet->sentAt);
    }
    return true;
}

} // namespace ns3::env::rdma
