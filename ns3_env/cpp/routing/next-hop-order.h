// SPDX-License-Identifier: GPL-2.0-or-later
// Order of equal next hops, of which the ECMP hash picks one by its place.
#ifndef NS3_ENV_ROUTING_NEXT_HOP_ORDER_H
#define NS3_ENV_ROUTING_NEXT_HOP_ORDER_H

#include "graph.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// Equal next hops in descending order of node id, whatever the order of the links.
class NextHopOrder
{
  public:
    virtual ~NextHopOrder() = default;

    /// Sorts `hops`, the neighbours of one node that lie one hop nearer to the host `to`.
    virtual void Sort(std::vector<const Neighbour*>& hops, [[maybe_unused]] uint32_t to)
    {
        std::sort(hops.begin(),
                  hops.end(),
                  [](const Neighbour* a, const Neighbour* b) { return a->node > b->node; });
    }

    /// Whether the path of the first hops gives a pair of hosts its base RTT, whichever a flow takes.
    virtual bool FirstPathSpeaks() const { return false; }
};

} // namespace ns3::env

#endif // NS3_ENV_ROUTING_NEXT_HOP_ORDER_H
