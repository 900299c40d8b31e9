// SPDX-License-Identifier: GPL-2.0-or-later
// Port of a switch that chooses for each packet by which port it leaves.
#ifndef NS3_ENV_RDMA_NETWORK_STEERED_PORT_H
#define NS3_ENV_RDMA_NETWORK_STEERED_PORT_H

#include "steering.h"
#include "switch.h"

namespace ns3::env::rdma
{

/// What comes in by it has no route of its own, and a way that is told by the ports it has left by.
class SteeredPort final : public SwitchPort
{
  public:
    static TypeId GetTypeId();

    SteeredPort(NetworkContext& network,
                Switch& owner,
                uint32_t nodeId,
                uint32_t index,
                Steering& steering);

    /// From now on the order of data that this port sends to its host is counted, flow by flow.
    void CountOrder();

  private:
    void Receive(Packet* packet) override;
    bool Passes(Packet* packet) override;

    Steering& m_steering;
    bool m_countsOrder{false};
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_NETWORK_STEERED_PORT_H
