// SPDX-License-Identifier: GPL-2.0-or-later
// Counts and shared stores of one packet network, which every port and node of it refers to.
#include "network-context.h"

#include "queue-pair.h"

namespace ns3::env::rdma
{

void
NetworkContext::Release(Packet* packet)
{
    if (packet->flow != nullptr)
    {
        packet->flow->OnPacketOffNetwork();
    }
    pool.Release(packet);
}

} // namespace ns3::env::rdma
