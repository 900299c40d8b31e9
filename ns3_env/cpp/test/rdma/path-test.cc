// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a packet's path: telemetry of each hop, and the path that ECMP chooses.
#include "test-network.h"

#include "ns3_env/cpp/routing/routing.h"

#include <map>
#include <random>
#include <tuple>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-path");

/// Telemetry of a network's run that comes back in ACKs, by flow, in order.
std::map<uint32_t, std::vector<std::vector<IntRecord>>>
TelemetryOf(Scenario s)
{
    std::map<uint32_t, std::vector<std::vector<IntRecord>>> records;
    TestNetwork net(std::move(s));
    const auto onRx = [&](const Packet& packet)
    {
        if (packet.kind == PacketKind::Ack)
        {
            const auto hops = packet.IntRecords();
            records[packet.flow->Id()].emplace_back(hops.begin(), hops.end());
        }
    };
    for (const auto& nic : net->Nics())
    {
        if (nic)
        {
            Trace(*nic, "Rx", onRx);
        }
    }
    net->Run();
    return records;
}

/// One record, as expected.
struct Expected
{
    uint32_t flow;
    size_t packet;
    size_t hop;
    int64_t timeNs;
    uint64_t txBytes;
    uint32_t queueBytes;
    uint32_t flows;
};

/// Three senders into one link. A small packet of sender 2 goes first, so that the packets of the other two
/// (exact times, 100 Gb/s, 1 us) never meet at the same instant; the comments follow the first switch.
void
Telemetry(const std::string& controller, const std::vector<Expected>& expected)
{
    auto records =
        TelemetryOf(Exact(3, {{0, 3, 10'000}, {1, 3, 10'000, 20 * NS}, {2, 3, 500}}, controller));
    for (const Expected& e : expected)
    {
        const Case about(controller + ", flow " + Shown(e.flow) + ", packet " + Shown(e.packet) +
                         ", hop " + Shown(e.hop));
        ASSERT_GT(records[e.flow].size(), e.packet, "packets");
        ASSERT_EQ(records[e.flow][e.packet].size(), 2, "hops");
        const IntRecord& seen = records[e.flow][e.packet][e.hop];
        EXPECT_EQ(Row(seen.timeNs, seen.txBytes, seen.queueBytes, seen.flows, seen.rateBps),
                  Row(e.timeNs, e.txBytes, e.queueBytes, e.flows, 100e9),
                  "time, bytes sent, queue left, flows, rate");
    }
}

TEST("every hop writes what it saw")
{
    // MPCC: 1080 B take 86.4 ns, 580 B take 46.4 ns; exact values.
    Telemetry("mpcc",
              {
                  {2, 0, 0, 1046, 0, 0, 1},       // arrives at 1046.4, leaves until 1092.8
                  {0, 0, 0, 1092, 580, 0, 1},     // arrived at 1086.4, waited
                  {1, 0, 0, 1179, 1660, 1080, 2}, // 1179.2; behind it flow 0's second (1172.8)
                  {0, 1, 0, 1265, 2740, 2160, 2}, // 1265.6; 1192.8 and 1259.2 have arrived
                  {1, 1, 0, 1352, 3820, 3240, 2}, // 1352.0; and 1279.2, 1345.6
                  {2, 0, 1, 2092, 0, 0, 1},       // 1046.4 + 46.4 + 1000
                  {0, 0, 1, 2179, 580, 0, 1},     // 1092.8 + 86.4 + 1000
                  {1, 0, 1, 2265, 1660, 0, 2},    // 1179.2 + 86.4 + 1000: no queue there
              });
    // HPCC: 1090 B take 87.2 ns, 590 B take 47.2 ns; units of 512 B sent and 320 B queued at 100 Gb/s.
    Telemetry("hpcc",
              {
                  {2, 0, 0, 1047, 0, 0, 1},       // 1047.2 to 1094.4
                  {0, 0, 0, 1094, 512, 0, 1},     // 590 B sent
                  {1, 0, 0, 1181, 1536, 960, 2},  // 1181.6; 1680 B sent, 1090 B behind it (1174.4)
                  {0, 1, 0, 1268, 2560, 1920, 2}, // 1268.8; 2770 B, 2180 B (1194.4, 1261.6)
                  {2, 0, 1, 2094, 0, 0, 1},
                  {0, 0, 1, 2181, 512, 0, 1}, // 1094.4 + 87.2 + 1000
              });
}

/// ACKs of the opposite direction count among the bytes that a port has sent.
TEST("bytes sent count ACKs")
{
    auto records =
        TelemetryOf(Exact(1, {{0, 1, 1000}, {1, 0, 2000}, {0, 1, 1000, 20 * US}}, "mpcc"));
    ASSERT_EQ(records[2].size(), 1, "one packet");
    for (const IntRecord& record : records[2][0])
    {
        ASSERT_EQ(record.txBytes, 1080 + 2 * 78, "a packet and two ACKs");
    }
}

/// Five switches, four of them reached by choice, write five records in order.
TEST("a path of five switches carries five records in order")
{
    Scenario s = FatTree16();
    s.controllers[0].name = "hpcc";
    AddFlow(s, 0, 15, 1000);
    const auto hops = TelemetryOf(std::move(s))[0].at(0);
    ASSERT_EQ(hops.size(), MAX_INT_HOPS, "five switches");
    for (size_t i = 0; i < hops.size(); ++i)
    {
        // 1090 B: 87 ns at 100 Gb/s, then 21 ns (truncated) per hop at 400 Gb/s, 1000 ns of delay each.
        ASSERT_EQ(Row(hops[i].timeNs, hops[i].rateBps),
                  Row(1087 + 1021 * i, i == 4 ? 100e9 : 400e9),
                  "time and rate of hop " << i);
    }
}

/// The nodes between two hosts, for a flow with a given source port.
std::vector<uint32_t>
NodesOf(const Routing& routing, uint32_t from, uint32_t to, const FiveTuple& tuple)
{
    std::vector<uint32_t> nodes;
    for (const auto& [node, link] : routing.Path(from, to, tuple))
    {
        nodes.push_back(link->node);
    }
    return nodes;
}

FiveTuple
Tuple(uint32_t from, uint32_t to, uint16_t sourcePort)
{
    return {NodeAddress(from), NodeAddress(to), sourcePort, 100};
}

/// The choices of three switches in a row are independent: all eight paths, equally often.
TEST("flows between two hosts spread evenly over all paths")
{
    const Routing routing(FatTree16());
    constexpr int FLOWS = 8000;
    for (bool ack : {false, true})
    {
        std::map<std::vector<uint32_t>, int> hits;
        for (int i = 0; i < FLOWS; ++i)
        {
            const FiveTuple tuple = Tuple(0, 15, static_cast<uint16_t>(10'000 + i));
            ++hits[ack ? NodesOf(routing, 15, 0, tuple.Reversed())
                       : NodesOf(routing, 0, 15, tuple)];
        }
        ASSERT_EQ(hits.size(), 8, "2 up, 2 cores, 2 down");
        for (const auto& [path, count] : hits)
        {
            ASSERT_NEAR(count, FLOWS / 8.0, 148.0, "flows per path"); // 5 sigma of a fair choice
        }
    }
}

/// Both directions pass the same number of switches, for every pair of hosts; ACKs hash their own five-tuple.
TEST("data and ACKs take shortest paths of equal length")
{
    const Routing routing(FatTree16());
    int apart = 0;
    for (uint32_t pair = 0; pair < 256; ++pair)
    {
        const uint32_t from = pair / 16;
        const uint32_t to = pair % 16;
        if (from == to)
        {
            continue;
        }
        const FiveTuple tuple = Tuple(from, to, 10'000);
        auto forward = NodesOf(routing, from, to, tuple);
        auto backward = NodesOf(routing, to, from, tuple.Reversed());
        const size_t switches = from / 4 == to / 4 ? 1 : from / 8 == to / 8 ? 3 : 5;
        ASSERT_EQ(forward.size(), switches + 1, from << " to " << to);
        ASSERT_EQ(backward.size(), switches + 1, to << " to " << from);
        ASSERT(NodesOf(routing, from, to, tuple) == forward, "a flow keeps its path");
        forward.pop_back();
        backward.pop_back();
        std::ranges::reverse(backward);
        apart += forward != backward ? 1 : 0;
    }
    ASSERT_GT(apart, 0, "directions choose for themselves");
    const FiveTuple tuple = Tuple(3, 9, 10'007);
    const FiveTuple back = tuple.Reversed();
    ASSERT_EQ(back.sourceIp, NodeAddress(9), "addresses change places");
    ASSERT_EQ(back.sourcePort, 100, "and so do ports");
    ASSERT_EQ(EcmpHash(back.Reversed(), 20), EcmpHash(tuple, 20), "there and back");
}

/// Next hops are sorted by node id, so the order in which a scenario lists its links does not matter.
TEST("paths do not depend on the order of links")
{
    Scenario s = FatTree16();
    const Routing routing(s);
    std::shuffle(s.links.begin(), s.links.end(), std::mt19937(3));
    std::swap(s.links[0].a, s.links[0].b);
    const Routing shuffled(s);
    for (uint16_t port = 10'000; port < 10'200; ++port)
    {
        const FiveTuple tuple = Tuple(2, 13, port);
        ASSERT(NodesOf(routing, 2, 13, tuple) == NodesOf(shuffled, 2, 13, tuple), "port " << port);
    }
}

/// Two hosts, and between their switches two paths of equal length, by switch 4 and by switch 5, which differ in delay:
/// the one by the highest id sets the base RTT of a pair of hosts.
TEST("the largest RTT is of the flow's own way, or of the pair's in the published simulator")
{
    for (const auto& [published, byFour, byFive, largest] :
         {std::tuple{false, 1 * US, 5 * US, 5 * US},
          {false, 5 * US, 1 * US, 5 * US},
          {true, 1 * US, 5 * US, 5 * US},
          {true, 5 * US, 1 * US, 1 * US}})
    {
        const Case about(Shown(byFour / NS) + " and " + Shown(byFive / NS) + " ns, published " +
                         Shown(published));
        Scenario s = NetworkOf(2, 4, {{0, 2}, {1, 3}, {2, 4}, {4, 3}, {2, 5}, {5, 3}});
        s.published = published;
        s.links[2].delay = s.links[3].delay = byFour;
        s.links[4].delay = s.links[5].delay = byFive;
        s.controllers[0].name = "hpcc";
        AddFlows(s, std::vector<FlowRow>(10, {0, 1, 1000})); // some by each path
        std::vector<PathFacts> paths;
        TestNetwork net(std::move(s),
                        [&paths](Flow& flow, const FlowEntry&) { paths.push_back(flow.Path()); });
        net->Run();
        const auto rtt = [](Picos delay) { return 2 * (2 * US + 2 * delay) + 4 * 80 * NS; };
        size_t slow = 0;
        for (size_t i = 0; i < paths.size(); ++i)
        {
            ASSERT_EQ(paths[i].maxBaseRtt, rtt(largest), "largest");
            slow += paths[i].baseRtt == rtt(5 * US) ? 1 : 0;
            if (published)
            {
                const Picos size = IdealTime(1048, 100e9, Rounding::TruncateNs);
                ASSERT_EQ(paths[i].baseRtt, rtt(byFive), "of the pair");
                ASSERT_EQ(net.Of(i).standalone, paths[i].baseRtt + size, "alone");
            }
        }
        ASSERT(published || (slow > 0 && slow < paths.size()), "each flow has its own way's RTT");
    }
}

} // namespace

} // namespace ns3::env::rdma::test
