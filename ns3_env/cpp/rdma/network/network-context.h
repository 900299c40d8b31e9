// SPDX-License-Identifier: GPL-2.0-or-later
// Counts and shared stores of one packet network, which every port and node of it refers to.
#ifndef NS3_ENV_RDMA_NETWORK_NETWORK_CONTEXT_H
#define NS3_ENV_RDMA_NETWORK_NETWORK_CONTEXT_H

#include "packet.h"

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/random-source.h"

#include <cstdint>
#include <memory>

namespace ns3::env::rdma
{

/// The events that a link costs.
enum class LinkEvents : uint8_t
{
    /// As few as will do: a transmission's end only where something waits for it, one arrival per link.
    Merged,
    /// Each transmission's end and each arrival, so that those of one instant run in the order in which
    /// transmissions began.
    PerFrame,
};

/// Counts and shared stores of one network; every port and node of it holds a reference.
struct NetworkContext
{
    /// Returns a packet to the pool and reports to its flow that it is off the network.
    void Release(Packet* packet);

    PacketPool pool;
    std::unique_ptr<RandomSource> random{std::make_unique<OneStream>()}; ///< of marks and losses
    Rounding rounding{Rounding::Exact};
    LinkEvents linkEvents{LinkEvents::Merged};
    uint64_t packetHops{0};  ///< transmissions of all packets but PFC frames
    uint64_t packetsSent{0}; ///< data packets, retransmissions included
    uint64_t droppedPackets{0};
    uint64_t droppedPayload{0}; ///< payload bytes of dropped data packets
    uint64_t pfcFrames{0};      ///< pause frames (not resumes)
    uint64_t notifications{0};  ///< feedback frames of switches
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_NETWORK_NETWORK_CONTEXT_H
