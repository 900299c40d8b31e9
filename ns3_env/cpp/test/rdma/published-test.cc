// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the published simulator's deviations, one at a time.
#include "test-network.h"

#include "ns3/rng-stream.h"
#include "ns3_env/cpp/rdma/published/nic.h"
#include "ns3_env/cpp/rdma/published/rules.h"
#include "ns3_env/cpp/routing/routing.h"

#include <random>
#include <tuple>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-published");

/// Serialisation and pacing times lose digits beyond the fraction of a second.
TEST("a serialisation time is a 64-bit binary fraction of a second, cut to nanoseconds")
{
    for (const auto& [bytes, rate, ns] : {std::tuple{1048, 1e9, 8383},
                                          {43, 1e9, 343}, // 344 exactly, 343.99.. in binary
                                          {1000, 100e9, 79},
                                          {1048, 100e9, 83},
                                          {1090, 400e9, 21}})
    {
        ASSERT_EQ(SerialisationTime(bytes, rate, Rounding::TruncateNs),
                  ns * NS,
                  bytes << " B at " << rate);
    }
    ASSERT_EQ(SerialisationTime(1000, 100e9, Rounding::Exact), 80 * NS, "exact");
}

/// Headroom of a port, and the growth of its threshold.
TEST("headroom is cut before it is tripled, and a part of a doubling counts as one")
{
    const published::Rules published;
    const NetworkRules exact;
    EXPECT_EQ(published.Headroom(25e9, 1003 * NS), 3 * 3134, "3134.375 B");
    EXPECT_EQ(exact.Headroom(25e9, 1003 * NS), 9403, "9403.125 B");
    for (const auto& [ratio, floor, ceiling] :
         {std::tuple{0.25, 0, 0}, {1.0, 0, 0}, {1.6, 0, 1}, {2.0, 1, 1}, {2.5, 1, 2}, {4.0, 2, 2}})
    {
        EXPECT_EQ(published.Doublings(ratio), ceiling, ratio);
        EXPECT_EQ(exact.Doublings(ratio), floor, ratio);
    }
}

/// Each number is the first of ns-3's next stream.
TEST("every draw is the first number of a new stream")
{
    for (uint64_t run : {1, 7})
    {
        published::StreamPerDraw draws(1, run, 158);
        for (uint64_t stream = 158; stream < 162; ++stream)
        {
            const double first = RngStream(1, stream, run).RandU01();
            ASSERT_EQ(draws.Draw(), first, "stream " << stream);
        }
    }
}

/// One timer: never armed for the past, unchanged by a flow that is ready sooner, moved by HPCC.
TEST("an idle card looks again once, at the time it first saw or a repaced flow gave")
{
    std::vector<int64_t> looks;
    published::WakeUp timer([&looks] { looks.push_back(ToNanos(NowPicos())); }, 0);
    const auto idle = [&](Picos at, Picos ready)
    { At(at * NS, [&, at, ready] { timer.OnIdle(ready * NS, at * NS); }); };
    const auto repaced = [&](Picos at, Picos ready)
    { At(at * NS, [&, at, ready] { timer.OnRepaced(ready * NS, at * NS); }); };
    idle(10, 10); // a closed window's pacing time is past
    idle(20, 100);
    idle(30, 50); // sooner, but one is pending
    idle(110, 200);
    repaced(120, 250); // later: it stays
    repaced(130, 150);
    idle(300, 400);
    repaced(310, 5);   // long due: at once
    repaced(500, 600); // nothing pending, nothing to move
    Simulator::Run();
    Simulator::Destroy();
    ASSERT((looks == std::vector<int64_t>{100, 150, 310}), "times");
}

/// Counts its draws.
class CountingSource final : public RandomSource
{
  public:
    double Draw() override { return ++draws, 0.0; }

    int draws{0};
};

/// A switch decides only for packets that it can mark; the published simulator's for every packet.
template <class Marker>
int
DrawsOf()
{
    CountingSource random;
    Marker marker({true, 1000, 3000, 0.5, 1e9}, 1e9, random);
    Packet data{};
    data.kind = PacketKind::Data;
    data.ecnCapable = true;
    Packet marked = data;
    marked.ecnMarked = true;
    Packet ack{};
    ack.kind = PacketKind::Ack;
    for (const uint64_t queueBytes : {1000, 2000, 3001}) // random only in the middle
    {
        EXPECT_EQ(marker.Marks(data, queueBytes), queueBytes > 1000, "data");
        EXPECT_EQ(marker.Marks(marked, queueBytes), false, "marked already");
        EXPECT_EQ(marker.Marks(ack, queueBytes), false, "ACK");
    }
    return random.draws;
}

TEST("a switch draws for data without a mark, the published simulator's for every packet")
{
    EXPECT_EQ(DrawsOf<EcnMarker>(), 1, "default");
    EXPECT_EQ(DrawsOf<published::EcnMarker>(), 3, "published");
}

/// Routing with the next hops in the order in which the published simulator finds them.
Routing
Found(const Scenario& s)
{
    return Routing(s,
                   [](const Graph& graph)
                   { return std::make_unique<published::NextHopOrder>(graph); });
}

/**
 * Towards host 1, switch 2 has the next hops 3 and 8 at equal distance. 8 is the higher id, but the search from
 * host 1 meets 7 before 6, and so 3 (behind 7) before 8 (behind 6).
 */
TEST("next hops stand as a search from the destination finds them")
{
    const auto towardsOne = [](const Scenario& s, NextHopOrder& order)
    {
        const Routing routing(s);
        std::vector<const Neighbour*> hops;
        for (const Neighbour& n : routing.Neighbours(2))
        {
            if (n.node == 3 || n.node == 8)
            {
                hops.push_back(&n);
            }
        }
        order.Sort(hops, 1);
        return std::pair{hops[0]->node, hops[1]->node};
    };

    Scenario s = NetworkOf(2, 7, {{0, 2}, {1, 4}, {4, 6}, {4, 7}, {6, 8}, {7, 3}, {8, 2}, {3, 2}});
    std::mt19937 random(5);
    for (int i = 0; i < 10; ++i) // for any order of the links
    {
        Graph graph{s.isSwitch, {}};
        for (uint32_t node = 0; node < s.isSwitch.size(); ++node)
        {
            graph.neighbours.push_back(Routing(s).Neighbours(node));
        }
        published::NextHopOrder found(graph);
        NextHopOrder byId;
        ASSERT((towardsOne(s, found) == std::pair{3U, 8U}), "found");
        ASSERT((towardsOne(s, byId) == std::pair{8U, 3U}), "by id");
        std::shuffle(s.links.begin(), s.links.end(), random);
    }
    // Two next hops in the other order: each flow uses the other one.
    const Routing byId(s);
    const Routing found = Found(s);
    for (uint16_t port = 10'000; port < 10'020; ++port)
    {
        const FiveTuple tuple{NodeAddress(0), NodeAddress(1), port, 100};
        ASSERT_NE(byId.Path(0, 1, tuple)[1].second->node,
                  found.Path(0, 1, tuple)[1].second->node,
                  "port " << port);
    }
}

/// On the fat-tree of the published results the two orders are one.
TEST("on a regular tree that is descending order of id")
{
    const Scenario s = FatTree16();
    const Routing byId(s);
    const Routing found = Found(s);
    for (uint32_t i = 0; i < 16 * 16 * 8; ++i)
    {
        const uint32_t from = i / 128;
        const uint32_t to = i / 8 % 16;
        const auto port = static_cast<uint16_t>(10'000 + i % 8);
        const FiveTuple tuple{NodeAddress(from), NodeAddress(to), port, 100};
        const auto other = from == to ? Hops() : found.Path(from, to, tuple);
        for (size_t hop = 0; hop < other.size(); ++hop)
        {
            ASSERT_EQ(byId.Path(from, to, tuple).at(hop).second->node,
                      other[hop].second->node,
                      from << " to " << to << ", hop " << hop);
        }
    }
}

} // namespace

} // namespace ns3::env::rdma::test
