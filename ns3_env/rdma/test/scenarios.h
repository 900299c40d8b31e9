// SPDX-License-Identifier: GPL-2.0-or-later
// Which small networks do the tests run on?
#ifndef RDMA_TEST_SCENARIOS_H
#define RDMA_TEST_SCENARIOS_H

#include "ns3/simulator.h"
#include "ns3_env/rdma/episode/recorders.h"
#include "ns3_env/rdma/helper/network.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::rdma::test
{

/// Senders 0..n-1 - switch n+1 - switch n+2 - receiver n; all links alike (docs/sources/published-simulator.md).
Scenario Dumbbell(uint32_t senders, double rateBps, Picos delay = 1000 * PS_PER_NS);

/// Hosts 0-15 - ToR 16-19 (100 Gb/s) - aggregation 20-23 - core 24, 25 (400 Gb/s); all 1 us (docs/sources/published-simulator.md).
Scenario FatTree16();

/// Adds a flow under the scenario's first controller.
void AddFlow(Scenario& scenario, uint32_t from, uint32_t to, uint64_t bytes, Picos start = 0);

/// A network in a simulation of its own, cleared away at the end of the scope.
class TestNetwork
{
  public:
    explicit TestNetwork(
        Scenario scenario,
        Network::FlowHook hook = [](LiveFlow&, const FlowEntry&) {})
        : m_network(std::make_unique<Network>(std::move(scenario), std::move(hook))),
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

    Network& operator*() { return *m_network; }
    Network* operator->() { return m_network.get(); }

    /// What the scenario asked to record.
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
    std::unique_ptr<Network> m_network;
    std::unique_ptr<Recorders> m_recorders;
};

} // namespace ns3::rdma::test

#endif // RDMA_TEST_SCENARIOS_H
