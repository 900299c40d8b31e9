// SPDX-License-Identifier: GPL-2.0-or-later
// Port, of any kind, of a switch that chooses the egress port for each packet.
#pragma once

#include "steering.h"
#include "switch.h"

namespace ns3::env::rdma
{

/// Port whose arriving packets have no route; the ports that they left by identify their path.
template <class Kind>
class Steered final : public Kind
{
  public:
    template <class Owner>
    Steered(NetworkContext& network,
            Owner& owner,
            uint32_t nodeId,
            uint32_t index,
            Steering& steering)
        : Kind(network, owner, nodeId, index),
          m_steering(steering)
    {
    }

    void CountOrder() override
    {
        m_countsOrder = true;
        this->WatchArrivals();
    }

  private:
    void Receive(Packet* packet) override
    {
        if (m_steering.Steer(packet, *this, m_way))
        {
            Kind::Receive(packet);
        }
    }

    bool Passes(Packet* packet) override
    {
        if (!Kind::Passes(packet))
        {
            return false;
        }
        if (m_countsOrder && packet->kind == PacketKind::Data)
        {
            packet->flow->Steered()->Order().OnArrival(packet->sentAt);
        }
        return true;
    }

    Steering& m_steering;
    Way m_way{}; ///< of the arriving packet
    bool m_countsOrder{false};
};

} // namespace ns3::env::rdma
