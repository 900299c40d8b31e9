// SPDX-License-Identifier: GPL-2.0-or-later
// Order of equal next hops in the published simulator: a search from the destination.
#ifndef NS3_ENV_RDMA_PUBLISHED_NEXT_HOP_ORDER_H
#define NS3_ENV_RDMA_PUBLISHED_NEXT_HOP_ORDER_H

#include "ns3_env/cpp/routing/next-hop-order.h"

namespace ns3::env::rdma::published
{

/**
 * A breadth-first search from the destination, which at each node looks at the neighbour with the highest id
 * first. On regular trees that is descending order of id. The first next hop is the one by which the search
 * reached a node, and its path is the pair's.
 */
class NextHopOrder final : public env::NextHopOrder
{
  public:
    explicit NextHopOrder(const Graph& graph);

    void Sort(std::vector<const Neighbour*>& hops, uint32_t to) override;
    bool FirstPathSpeaks() const override { return true; }

  private:
    /// The place of each node in the search from the host `to`.
    const std::vector<uint32_t>& PlacesTo(uint32_t to);

    const Graph& m_graph;
    std::vector<std::vector<uint32_t>> m_places; ///< by destination, on demand
};

} // namespace ns3::env::rdma::published

#endif // NS3_ENV_RDMA_PUBLISHED_NEXT_HOP_ORDER_H
