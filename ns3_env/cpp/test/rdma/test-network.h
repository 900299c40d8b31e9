// SPDX-License-Identifier: GPL-2.0-or-later
// An RDMA network in a separate simulation, for tests.
#ifndef NS3_ENV_TEST_RDMA_TEST_NETWORK_H
#define NS3_ENV_TEST_RDMA_TEST_NETWORK_H

#include "ns3/simulator.h"
#include "ns3_env/cpp/rdma/program/rdma-episode.h"
#include "ns3_env/cpp/recorders/results.h"
#include "ns3_env/cpp/test/scenarios.h"
#include "ns3_env/cpp/test/suite.h"

#include <memory>
#include <utility>

namespace ns3::env::rdma::test
{

using env::test::AddFlow;
using env::test::AddIncast;
using env::test::Case;
using env::test::Dumbbell;
using env::test::FatTree16;

/// A network in a separate simulation, destroyed at the end of the scope.
class TestNetwork
{
  public:
    explicit TestNetwork(
        Scenario scenario,
        RdmaEpisode::FlowHook hook = [](Flow&, const FlowEntry&) {})
        : m_network(std::make_unique<RdmaEpisode>(std::move(scenario), std::move(hook))),
          m_recorders(std::make_unique<Recorders>(*m_network))
    {
    }
    ~TestNetwork()
    {
        m_recorders.reset();
        m_network.reset();
        Simulator::Destroy();
    }
    TestNetwork(const TestNetwork&) = delete;
    TestNetwork& operator=(const TestNetwork&) = delete;

    RdmaEpisode& operator*() { return *m_network; }
    RdmaEpisode* operator->() { return m_network.get(); }

    /// Recorders that the scenario requests.
    const Recorders& Recorded() const { return *m_recorders; }

    SwitchPort& PortTo(uint32_t node, uint32_t peer)
    {
        for (const auto& [id, sw] : m_network->Switches())
        {
            for (const auto& port : sw->Ports())
            {
                if (id == node && port->Peer().NodeId() == peer)
                {
                    return *port;
                }
            }
        }
        NS_FATAL_ERROR("no link from " << node << " to " << peer);
    }

  private:
    std::unique_ptr<RdmaEpisode> m_network;
    std::unique_ptr<Recorders> m_recorders;
};

} // namespace ns3::env::rdma::test

#endif // NS3_ENV_TEST_RDMA_TEST_NETWORK_H
