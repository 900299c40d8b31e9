// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a TCP flow's path: as an RDMA flow's, and forgotten with the flow; memory of episodes.
#include "episodes.h"

#include "ns3/simulator.h"

#include <fstream>
#include <set>
#include <unistd.h>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-routing");

/// 4 hosts under each of 4 leaves, and 4 spines: four equal paths from leaf to leaf.
Scenario
FourLeaves()
{
    return LeafSpine(4, 4, 4, 10e9);
}

TEST("data and ACKs take the links that the hash gives RDMA, and no others")
{
    std::set<uint32_t> spines;
    for (uint32_t receiver = 4; receiver < 16; ++receiver)
    {
        Scenario s = FourLeaves();
        AddFlow(s, 0, receiver, 20'000);
        const Routing routing(s);
        TestEpisode episode(s, {}, {"cubic", {}});
        const FiveTuple tuple = episode.Flow(0).Tuple();
        EXPECT_EQ(Row(tuple.sourceIp, tuple.destinationIp, tuple.sourcePort, tuple.destinationPort),
                  Row(NodeAddress(0), NodeAddress(receiver), 10000, 100),
                  "addresses, and ports as RDMA's");
        episode.Run();
        std::set<std::pair<uint32_t, uint32_t>> links;
        for (const Hops& path :
             {routing.Path(0, receiver, tuple), routing.Path(receiver, 0, tuple.Reversed())})
        {
            for (const auto& [node, link] : path)
            {
                links.emplace(node, link->node);
            }
        }
        for (const Egress& egress : episode.Net().Egresses())
        {
            EXPECT_EQ(egress.egress->Offered() > 0,
                      links.contains({egress.node, egress.peer}),
                      "to host " << receiver << " from " << egress.node << " to " << egress.peer);
        }
        spines.insert(routing.Path(0, receiver, tuple)[1].second->node);
    }
    EXPECT_GT(spines.size(), 2, "flows spread over the spines");
}

TEST("a flow that is gone leaves no path behind, and its ports to others")
{
    Scenario s = FourLeaves();
    {
        Fabric fabric(s, {});
        for (uint16_t i = 0; i < 50; ++i)
        {
            auto flow = fabric.Connect({i, 0, 15, 5000, 0}, 10000, {"cubic", {}});
            flow->SetFinishedCallback([](Flow&) { Simulator::Stop(); });
            flow->Start();
            Simulator::Run();
            EXPECT(flow->IsFinished(), "flow " << i);
            EXPECT_EQ(fabric.Ways().Connections(), 1, "of one flow");
        }
        EXPECT_EQ(fabric.Ways().Connections(), 0, "of none");
    }
    Simulator::Destroy();
}

TEST("a host may have one source port for many others, as RDMA counts ports by pair")
{
    Scenario s = FourLeaves();
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

#ifndef __SANITIZE_ADDRESS__ // freed memory stays for a while
TEST("episodes leave no memory")
{
    const auto residentPages = []() -> long
    {
        std::ifstream statm("/proc/self/statm");
        long all = 0;
        long resident = 0;
        statm >> all >> resident;
        return resident;
    };
    constexpr int WARM = 20;
    constexpr int MORE = 100;
    long before = 0;
    for (int i = 0; i < WARM + MORE; ++i)
    {
        before = i == WARM ? residentPages() : before;
        Scenario s = FatTree16();
        for (uint32_t flow = 0; flow < 16; ++flow)
        {
            AddFlow(s, flow, (flow + 5) % 16, 10'000);
        }
        TestEpisode episode(s, {}, {i % 2 == 0 ? "cubic" : "bbr", {}});
        episode.RunUntil(i % 3 == 0 ? 30 * US : MS); // some are cut
    }
    const long grown = (residentPages() - before) * sysconf(_SC_PAGESIZE);
    EXPECT_LT(grown, MORE * 4096, "bytes that " << MORE << " episodes left");
}
#endif

} // namespace

} // namespace ns3::env::tcp::test
