// SPDX-License-Identifier: GPL-2.0-or-later
// Helper that builds a fat-tree of an RDMA network.
#include "rdma-fat-tree-helper.h"

#include "ns3/abort.h"

namespace ns3
{

RdmaFatTreeHelper::RdmaFatTreeHelper(uint32_t ports, uint32_t pods)
    : m_half(ports / 2),
      m_pods(pods == 0 ? ports : pods)
{
    NS_ABORT_MSG_IF(ports < 2 || ports % 2 != 0 || m_pods > ports,
                    "RdmaFatTreeHelper: switches have an even number of ports, not "
                        << ports << ", and there are at most as many pods, not " << m_pods);
}

void
RdmaFatTreeHelper::Build(RdmaHelper& rdma)
{
    m_hosts.Create(m_pods * m_half * m_half);
    m_edges.Create(m_pods * m_half);
    m_aggregations.Create(m_pods * m_half);
    m_cores.Create(m_half * m_half);
    for (const NodeContainer& switches : {m_edges, m_aggregations, m_cores})
    {
        rdma.InstallSwitch(switches);
    }
    for (uint32_t host = 0; host < m_hosts.GetN(); ++host)
    {
        rdma.Connect(m_hosts.Get(host), m_edges.Get(host / m_half));
    }
    for (uint32_t edge = 0; edge < m_edges.GetN(); ++edge)
    {
        for (uint32_t i = 0; i < m_half; ++i)
        {
            rdma.Connect(m_edges.Get(edge), m_aggregations.Get(edge / m_half * m_half + i));
        }
    }
    for (uint32_t aggregation = 0; aggregation < m_aggregations.GetN(); ++aggregation)
    {
        for (uint32_t i = 0; i < m_half; ++i)
        {
            rdma.Connect(m_aggregations.Get(aggregation),
                         m_cores.Get(aggregation % m_half * m_half + i));
        }
    }
}

} // namespace ns3
