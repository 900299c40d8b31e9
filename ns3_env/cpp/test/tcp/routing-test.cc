// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a TCP flow's path: as an RDMA flow's, and forgotten with the flow.
#include "episodes.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/test/suite.h"

#include <set>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-routing");

/// 4 hosts under each of 4 leaves, and 4 spines: four equal paths from leaf to leaf.
Scenario
LeafSpine()
{
    constexpr uint32_t HOSTS = 16;
    constexpr uint32_t LEAVES = 4;
    Scenario s;
    s.timeLimit = PS_PER_SECOND;
    s.isSwitch.assign(HOSTS, false);
    s.isSwitch.insert(s.isSwitch.end(), 2 * LEAVES, true);
    for (uint32_t host = 0; host < HOSTS; ++host)
    {
        s.links.push_back({host, HOSTS + host / LEAVES, 10e9, PS_PER_US});
    }
    for (uint32_t leaf = HOSTS; leaf < HOSTS + LEAVES; ++leaf)
    {
        for (uint32_t spine = HOSTS + LEAVES; spine < HOSTS + 2 * LEAVES; ++spine)
        {
            s.links.push_back({leaf, spine, 10e9, PS_PER_US});
        }
    }
    return s;
}

using Link = std::pair<uint32_t, uint32_t>;

void
AddLinks(const Hops& path, std::set<Link>& links)
{
    for (const auto& [node, link] : path)
    {
        links.emplace(node, link->node);
    }
}

TEST("data and ACKs take the links that the hash gives RDMA, and no others")
{
    std::set<uint32_t> spines;
    for (uint32_t receiver = 4; receiver < 16; ++receiver)
    {
        Scenario s = LeafSpine();
        AddFlow(s, 0, receiver, 20'000);
        const Routing routing(s);
        TestEpisode episode(s, {}, {"cubic", {}});
        const FiveTuple tuple = episode.Flow(0).Tuple();
        EXPECT_EQ(tuple.sourceIp, NodeAddress(0), "the source's address");
        EXPECT_EQ(tuple.destinationIp, NodeAddress(receiver), "the other's");
        EXPECT_EQ(tuple.sourcePort, 10000, "ports as RDMA's");
        EXPECT_EQ(tuple.destinationPort, 100, "ports as RDMA's");
        episode.Run();
        std::set<Link> expected;
        AddLinks(routing.Path(0, receiver, tuple), expected);
        AddLinks(routing.Path(receiver, 0, tuple.Reversed()), expected);
        std::set<Link> used;
        for (const Egress& egress : episode.Net().Egresses())
        {
            if (egress.egress->Offered() > 0)
            {
                used.emplace(egress.node, egress.peer);
            }
        }
        EXPECT(used == expected, "links used to host " << receiver);
        spines.insert(routing.Path(0, receiver, tuple)[1].second->node);
    }
    EXPECT_GT(spines.size(), 2, "flows spread over the spines");
}

TEST("a flow that is gone leaves no path behind, and its ports to others")
{
    Scenario s = LeafSpine();
    const ControllerSpec controller{"cubic", {}};
    {
        Fabric fabric(s, {});
        for (uint16_t i = 0; i < 50; ++i)
        {
            auto flow = fabric.Connect({i, 0, 15, 5000, 0}, 10000, controller);
            bool over = false;
            flow->SetFinishedCallback(
                [&](Flow&)
                {
                    over = true;
                    Simulator::Stop();
                });
            flow->Start();
            Simulator::Run();
            EXPECT(over, "flow " << i);
            EXPECT_EQ(fabric.Ways().Connections(), 1, "of one flow");
        }
        EXPECT_EQ(fabric.Ways().Connections(), 0, "of none");
    }
    Simulator::Destroy();
}

TEST("a host may have one source port for many others, as RDMA counts ports by pair")
{
    Scenario s = LeafSpine();
    {
        Fabric fabric(s, {});
        std::vector<std::unique_ptr<TcpFlow>> flows;
        for (uint32_t to = 1; to < 16; ++to)
        {
            flows.push_back(fabric.Connect({to, 0, to, 100'000, 0}, 10000, {"dctcp", {}}));
            flows.push_back(fabric.Connect({to + 100, to, 0, 100'000, 0}, 10000, {"bbr", {}}));
            flows[flows.size() - 2]->Start();
            flows.back()->Start();
        }
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        for (const auto& flow : flows)
        {
            EXPECT(flow->IsFinished(), "flow " << flow->Spec().id);
            EXPECT_EQ(flow->ReceivedBytes(), 100'000, "flow " << flow->Spec().id);
        }
    }
    Simulator::Destroy();
}

} // namespace

} // namespace ns3::env::tcp::test
