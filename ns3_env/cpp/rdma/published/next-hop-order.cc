// SPDX-License-Identifier: GPL-2.0-or-later
// Order of equal next hops in the published simulator: a search from the destination.
#include "next-hop-order.h"

#include <functional>

namespace ns3::env::rdma::published
{

NextHopOrder::NextHopOrder(const Graph& graph)
    : m_graph(graph),
      m_places(graph.neighbours.size())
{
}

const std::vector<uint32_t>&
NextHopOrder::PlacesTo(uint32_t to)
{
    constexpr uint32_t UNSEEN = UINT32_MAX;
    auto& places = m_places[to];
    if (!places.empty())
    {
        return places;
    }
    places.assign(m_graph.neighbours.size(), UNSEEN);
    std::vector<uint32_t> found{to};
    places[to] = 0;
    std::vector<uint32_t> ids;
    for (size_t next = 0; next < found.size(); ++next)
    {
        ids.clear();
        for (const Neighbour& n : m_graph.neighbours[found[next]])
        {
            ids.push_back(n.node);
        }
        std::sort(ids.begin(), ids.end(), std::greater<>());
        for (const uint32_t id : ids)
        {
            if (m_graph.isSwitch[id] && places[id] == UNSEEN) // hosts do not forward
            {
                places[id] = static_cast<uint32_t>(found.size());
                found.push_back(id);
            }
        }
    }
    return places;
}

void
NextHopOrder::Sort(std::vector<const Neighbour*>& hops, uint32_t to)
{
    const auto& places = PlacesTo(to);
    std::sort(hops.begin(),
              hops.end(),
              [&places](const Neighbour* a, const Neighbour* b)
              { return places[a->node] < places[b->node]; });
}

} // namespace ns3::env::rdma::published
