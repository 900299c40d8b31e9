// SPDX-License-Identifier: GPL-2.0-or-later
// Graph of nodes and links, as routing sees the network.
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::env
{

/// One end of a link, as a node sees it.
struct Neighbour
{
    uint32_t node;
    uint32_t port; ///< index of the local port
    double rateBps;
    Picos delay;
};

/// Equal next hops in descending order of node id, whatever the order of the links.
class NextHopOrder
{
  public:
    virtual ~NextHopOrder() = default;

    /// Sorts `hops`, the neighbours of one node one hop nearer to the host `to`.
    virtual void Sort(std::vector<const Neighbour*>& hops, [[maybe_unused]] uint32_t to)
    {
        std::sort(hops.begin(),
                  hops.end(),
                  [](const Neighbour* a, const Neighbour* b) { return a->node > b->node; });
    }

    /// Reports whether the path by the first hops sets the base RTT of a pair of hosts, whichever a flow uses.
    virtual bool FirstPathSpeaks() const { return false; }
};

/// Switches of the longest path: a flow has a bit for each in their tables (QueuePair::MarkCounted).
inline constexpr uint32_t MAX_PATH_SWITCHES = 32;

/// Links of a path: each with the node that it leaves.
using Hops = std::vector<std::pair<uint32_t, const Neighbour*>>;

/// An id of each, one for each direction.
inline std::vector<uint64_t>
LinkIds(const Hops& path)
{
    std::vector<uint64_t> ids;
    for (const auto& [node, link] : path)
    {
        ids.push_back(uint64_t{node} << 32U | link->port);
    }
    return ids;
}

/// The path's (node, port) pairs.
inline std::vector<std::pair<uint32_t, uint32_t>>
PortsOf(const Hops& path)
{
    std::vector<std::pair<uint32_t, uint32_t>> ports;
    for (const auto& [node, link] : path)
    {
        ports.emplace_back(node, link->port);
    }
    return ports;
}

/// Nodes by id; a node's neighbours in the order of the links.
struct Graph
{
    std::vector<bool> isSwitch;
    std::vector<std::vector<Neighbour>> neighbours;
};

} // namespace ns3::env
