// SPDX-License-Identifier: GPL-2.0-or-later
// How a network's packets choose among equal paths, and when its links fail.
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
#include <vector>

namespace ns3::env
{

/// Rule by which a switch chooses among next hops that are equally near to a packet's destination.
enum class Balancing : uint8_t
{
    Flowlet, ///< the flow's hash; after a pause of the flow one by chance (Vanini 2017, LetFlow)
    Random,  ///< each packet by chance
    InTurn,  ///< each packet the next one, destination by destination
    LeastQueue,
    Recycled, ///< by the entropy of the packet, which senders recycle (Bonato 2025, REPS)
};

/// A link between two nodes that is down.
struct LinkOutage
{
    uint32_t a;
    uint32_t b;
    Picos begin;
    Picos end; ///< NEVER: it stays down
};

/// Settings of a network with switches that choose for each packet.
struct PathSpec
{
    Balancing balancing{Balancing::Flowlet};
    Picos gap{NEVER};     ///< Flowlet: a longer pause of a flow; NEVER: only its hash (ECMP)
    Picos freezing{0};    ///< Recycled: after a loss
    Picos convergence{0}; ///< delay until switches know of a failure or a repair
    std::vector<LinkOutage> outages{};
};

} // namespace ns3::env
