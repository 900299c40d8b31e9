// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a packet's path: telemetry of each hop, and the path that ECMP chooses.
#include "test-network.h"

#include "ns3_env/cpp/routing/routing.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <map>
#include <random>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-path");

constexpr Picos NS = PS_PER_NS;

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

/// Telemetry that comes back in ACKs, by flow, in order.
class TelemetryProbe
{
  public:
    void Attach(RdmaEpisode& network)
    {
        for (const auto& nic : network.Nics())
        {
            if (nic)
            {
                nic->TraceConnectWithoutContext("Rx", MakeCallback(&TelemetryProbe::OnRx, this));
            }
        }
    }

    std::map<uint32_t, std::vector<std::vector<IntRecord>>> records;

  private:
    void OnRx(const Packet& packet)
    {
        if (packet.kind == PacketKind::Ack)
        {
            const auto hops = packet.IntRecords();
            records[packet.flow->Id()].emplace_back(hops.begin(), hops.end());
        }
    }
};

/**
 * Three senders into one link. A small packet of sender 2 goes first, so that the packets of the other two
 * (exact times, 100 Gb/s, 1 us) never meet at the same instant; the comments follow the first switch.
 */
void
Telemetry(std::string controller, std::vector<Expected> expected)
{
    const Case about(controller + ": every hop writes what it saw");
    Scenario s = Dumbbell(3, 100e9);
    s.published = false;
    s.controllers[0].name = controller;
    AddFlow(s, 0, 3, 10'000);
    AddFlow(s, 1, 3, 10'000, 20 * NS);
    AddFlow(s, 2, 3, 500);
    TestNetwork net(std::move(s));
    TelemetryProbe probe;
    probe.Attach(*net);
    net->Run();
    for (const Expected& e : expected)
    {
        const std::string where = "flow " + std::to_string(e.flow) + ", packet " +
                                  std::to_string(e.packet) + ", hop " + std::to_string(e.hop);
        ASSERT_GT(probe.records[e.flow].size(), e.packet, where);
        ASSERT_EQ(probe.records[e.flow][e.packet].size(), 2, where << ": hops");
        const IntRecord& record = probe.records[e.flow][e.packet][e.hop];
        EXPECT_EQ(record.timeNs, e.timeNs, where << ": time");
        EXPECT_EQ(record.txBytes, e.txBytes, where << ": bytes sent");
        EXPECT_EQ(record.queueBytes, e.queueBytes, where << ": queue left");
        EXPECT_EQ(record.flows, e.flows, where << ": flows");
        EXPECT_EQ(record.rateBps, 100'000'000'000U, where << ": rate");
    }
}

/// MPCC: 1080 B take 86.4 ns, 580 B take 46.4 ns; exact values.
std::vector<Expected>
ExactRecords()
{
    return {
        {2, 0, 0, 1046, 0, 0, 1},       // arrives at 1046.4, leaves until 1092.8
        {0, 0, 0, 1092, 580, 0, 1},     // arrived at 1086.4, waited
        {1, 0, 0, 1179, 1660, 1080, 2}, // 1179.2; behind it flow 0's second (1172.8)
        {0, 1, 0, 1265, 2740, 2160, 2}, // 1265.6; 1192.8 and 1259.2 have arrived
        {1, 1, 0, 1352, 3820, 3240, 2}, // 1352.0; and 1279.2, 1345.6
        {2, 0, 1, 2092, 0, 0, 1},       // 1046.4 + 46.4 + 1000
        {0, 0, 1, 2179, 580, 0, 1},     // 1092.8 + 86.4 + 1000
        {1, 0, 1, 2265, 1660, 0, 2},    // 1179.2 + 86.4 + 1000: the second switch has no queue
    };
}

/// HPCC: 1090 B take 87.2 ns, 590 B take 47.2 ns; units of 512 B sent and 320 B queued at 100 Gb/s.
std::vector<Expected>
QuantisedRecords()
{
    return {
        {2, 0, 0, 1047, 0, 0, 1},       // 1047.2 to 1094.4
        {0, 0, 0, 1094, 512, 0, 1},     // 590 B sent
        {1, 0, 0, 1181, 1536, 960, 2},  // 1181.6; 1680 B sent, 1090 B behind it (1174.4)
        {0, 1, 0, 1268, 2560, 1920, 2}, // 1268.8; 2770 B sent, 2180 B behind it (1194.4, 1261.6)
        {2, 0, 1, 2094, 0, 0, 1},
        {0, 0, 1, 2181, 512, 0, 1}, // 1094.4 + 87.2 + 1000
    };
}

/// ACKs of the opposite direction count among the bytes that a port has sent.
TEST("bytes sent count ACKs")
{
    Scenario s = Dumbbell(1, 100e9);
    s.controllers[0].name = "mpcc";
    AddFlow(s, 0, 1, 1000);
    AddFlow(s, 1, 0, 2000);
    AddFlow(s, 0, 1, 1000, 20'000 * NS);
    TestNetwork net(std::move(s));
    TelemetryProbe probe;
    probe.Attach(*net);
    net->Run();
    ASSERT_EQ(probe.records[2].size(), 1, "one packet");
    for (const IntRecord& record : probe.records[2][0])
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
    TestNetwork net(std::move(s));
    TelemetryProbe probe;
    probe.Attach(*net);
    net->Run();
    const auto& hops = probe.records[0].at(0);
    ASSERT_EQ(hops.size(), MAX_INT_HOPS, "five switches");
    // 1090 B: 87 ns at 100 Gb/s, then 21 ns (truncated) per hop at 400 Gb/s, 1000 ns of delay each.
    int64_t time = 1087;
    for (size_t i = 0; i < hops.size(); ++i)
    {
        ASSERT_EQ(hops[i].timeNs, time, "hop " << i);
        ASSERT_EQ(hops[i].rateBps,
                  i == 4 ? 100'000'000'000U : 400'000'000'000U,
                  "rate of hop " << i);
        time += 1021;
    }
}

struct Message
{
    uint32_t from;
    uint32_t to;
    uint64_t bytes;
};

/// Completion times of a flow in an idle network (docs/sources/published-simulator.md, "Results to meet"): host 4
/// receives in a dumbbell, higher ones in a fat-tree.
void
LoneFlow(const std::string& controller, const Message& message, int64_t fctNs)
{
    constexpr Picos START = 77 * NS;
    const Case about(controller + " alone, " + std::to_string(message.bytes) + " B to host " +
                     std::to_string(message.to));
    Scenario s = message.to == 4 ? Dumbbell(4, 100e9) : FatTree16();
    s.controllers[0].name = controller;
    AddFlow(s, message.from, message.to, message.bytes, START);
    TestNetwork net(std::move(s));
    net->Run();
    ASSERT_EQ(net->Records()[0].end - START, fctNs * NS, "completion time");
    ASSERT_EQ(net->Context().pool.LiveCount(), 0, "packets left behind");
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
            // 5 sigma of a fair choice
            ASSERT_NEAR(count, FLOWS / 8.0, 148.0, "flows per path");
        }
    }
}

/// Both directions pass the same number of switches, for every pair of hosts; ACKs hash their own five-tuple.
TEST("data and ACKs take shortest paths of equal length")
{
    const Routing routing(FatTree16());
    int apart = 0;
    for (uint32_t from = 0; from < 16; ++from)
    {
        for (uint32_t to = 0; to < 16; ++to)
        {
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
            std::reverse(backward.begin(), backward.end());
            apart += forward != backward ? 1 : 0;
        }
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
        ASSERT(NodesOf(routing, 2, 13, tuple) == NodesOf(shuffled, 2, 13, tuple),
               "source port " << port);
    }
}

TEST("every hop writes what it saw")
{
    Telemetry("mpcc", ExactRecords());
    Telemetry("hpcc", QuantisedRecords());
}

TEST("a flow alone takes the published time, to the nanosecond")
{
    for (const char* name : {"fixed-window", "dcqcn", "dctcp"})
    {
        LoneFlow(name, {0, 4, 1000}, 6261);
        LoneFlow(name, {0, 4, 1500}, 6304);
        LoneFlow(name, {0, 4, 20'000'000}, 1'666'178);
    }
    for (const char* name : {"timely", "swift"}) // 8 B of telemetry each
    {
        LoneFlow(name, {0, 4, 1000}, 6264);
        LoneFlow(name, {0, 4, 1500}, 6308);
        LoneFlow(name, {0, 4, 20'000'000}, 1'686'180);
    }
    LoneFlow("hpcc", {0, 4, 1000}, 6282);
    LoneFlow("hpcc", {0, 4, 1500}, 6329);
    LoneFlow("hpcc", {0, 4, 20'000'000}, 1'840'962);
    LoneFlow("dctcp", {0, 15, 1000}, 12'258);
    LoneFlow("hpcc", {0, 15, 1000}, 12'276);
    LoneFlow("dctcp", {1, 14, 1'000'000}, 95'175);
    LoneFlow("hpcc", {1, 14, 1'000'000}, 103'582);
}

} // namespace

} // namespace ns3::env::rdma::test
