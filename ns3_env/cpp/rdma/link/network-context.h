// SPDX-License-Identifier: GPL-2.0-or-later
// Counts and shared stores of a network, or of one part of it.
#pragma once

#include "packet.h"
#include "wire-flow.h"

#include "ns3_env/cpp/engine/random-source.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::env::rdma
{

/// The events that a link costs.
enum class LinkEvents : uint8_t
{
    /// Fewest possible: a transmission's end only if something waits for it, one arrival per link.
    Merged,
    /// The same in a divided network: a node's arrivals precede its other events of the same instant, in order of
    /// ports, so that the order of scheduling does not matter.
    MergedByPort,
    /// An event for each transmission's end and each arrival, so that those of one instant run in the order in which
    /// transmissions began.
    PerFrame,
};

/// Counts and shared stores of one network, or of a part; every port and node of it has a reference.
struct NetworkContext
{
    /// Returns a packet to the pool and reports to its flow that it is off the network.
    void Release(Packet* packet)
    {
        if (packet->flow != nullptr)
        {
            CountPacket(*packet->flow, -1);
        }
        pool.Release(packet);
    }

    /// Counts one packet of the flow more (1) or less (-1) on the network. A flow of another part is updated at the end
    /// of the window.
    void CountPacket(WireFlow& flow, int change)
    {
        if (linkEvents != LinkEvents::MergedByPort || flow.Home() == this) [[likely]]
        {
            flow.CountPackets(change);
            return;
        }
        ofOthers.emplace_back(&flow, change);
    }

    /// Random source of a port.
    RandomSource& RandomOf(uint32_t node, uint32_t port)
    {
        if (!portSeed)
        {
            return *random;
        }
        return ofPorts.emplace_back(*portSeed, node, port);
    }

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

    // of a part of a divided network
    std::optional<uint64_t> portSeed; ///< each port draws from its own stream
    std::deque<PortStream> ofPorts;
    std::vector<std::pair<WireFlow*, int>> ofOthers; ///< flows of other parts: CountPacket()
};

} // namespace ns3::env::rdma
