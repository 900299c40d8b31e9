// SPDX-License-Identifier: GPL-2.0-or-later
// An RDMA network in a separate simulation, for tests.
#pragma once

#include "ns3/simulator.h"
#include "ns3_env/cpp/rdma/program/rdma-episode.h"
#include "ns3_env/cpp/recorders/results.h"
#include "ns3_env/cpp/test/scenarios.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::env::rdma::test
{

using namespace env::test; // NOLINT(google-build-using-namespace)

constexpr uint32_t PACKET_BYTES = 1048; ///< on the wire, of fixed-window's flows

template <class Act>
void
At(Picos time, Act act)
{
    Simulator::Schedule(Time(time), act);
}

/// Calls `look` for the packets of a port's trace source.
template <class Look>
void
Trace(Port& port, const char* source, Look look)
{
    port.TraceConnectWithoutContext(source, Callback<void, const Packet&>(look));
}

/// Copies of the packets of a kind that a port's trace source shows, as they come.
inline std::shared_ptr<std::vector<Packet>>
PacketsOf(Port& port, const char* source, PacketKind kind)
{
    auto packets = std::make_shared<std::vector<Packet>>();
    const auto look = [packets, kind](const Packet& packet)
    {
        if (packet.kind == kind)
        {
            packets->push_back(packet);
        }
    };
    Trace(port, source, look);
    return packets;
}

/// Loses the packets that `drops` picks.
template <class Drops>
void
Drop(Port& port, Drops drops)
{
    port.SetDropFilter(Callback<bool, const Packet&>(drops));
}

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
    TestNetwork(TestNetwork&&) = delete;

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

    const FlowRecord& Of(size_t flow) const { return m_network->Records()[flow]; }
    std::vector<Picos> Ends() const
    {
        std::vector<Picos> ends;
        std::ranges::transform(m_network->Records(), std::back_inserter(ends), &FlowRecord::end);
        return ends;
    }

  private:
    std::unique_ptr<RdmaEpisode> m_network;
    std::unique_ptr<Recorders> m_recorders;
};

/// A network that has run, all of whose flows have ended.
class Played : public TestNetwork
{
  public:
    explicit Played(Scenario scenario)
        : TestNetwork(std::move(scenario))
    {
        (*this)->Run();
        EXPECT_EQ((*this)->Unfinished(), 0, "every flow ends");
    }
};

} // namespace ns3::env::rdma::test
