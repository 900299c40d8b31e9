// SPDX-License-Identifier: GPL-2.0-or-later
// Helper that builds a fat-tree of an RDMA network.
#pragma once

#include "rdma-helper.h"

namespace ns3
{

/// The fat-tree of switches with `ports` ports each, a scenario's `fat_tree_3`: ports^3/4 hosts, in `ports` pods of as
/// many switches, half of them edge and half aggregation, below (ports/2)^2 cores. `pods` below `ports` builds that many.
class RdmaFatTreeHelper
{
  public:
    explicit RdmaFatTreeHelper(uint32_t ports, uint32_t pods = 0);

    /// Creates nodes and links, with the helper's attributes; hosts, edge, aggregation and core have ids in
    /// this order.
    void Build(RdmaHelper& rdma);

    const NodeContainer& GetHosts() const { return m_hosts; }
    const NodeContainer& GetEdges() const { return m_edges; }
    const NodeContainer& GetAggregations() const { return m_aggregations; }
    const NodeContainer& GetCores() const { return m_cores; }

  private:
    uint32_t m_half;
    uint32_t m_pods;
    NodeContainer m_hosts;
    NodeContainer m_edges;
    NodeContainer m_aggregations;
    NodeContainer m_cores;
};

} // namespace ns3
