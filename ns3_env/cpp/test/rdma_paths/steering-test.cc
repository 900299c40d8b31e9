// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of load balancing per packet: each method's choice of ports, and the count of reordering.
#include "ns3_env/cpp/engine/packet-order.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-steering");

constexpr Picos US = 1000 * PS_PER_NS;
constexpr Picos MS = 1000 * US;
constexpr uint32_t LEAVES = 2;
constexpr uint64_t PACKET = 1048;

/// Leaves of `hosts` each, first, then one spine for each host of a leaf; all links 100 Gb/s, 1 us.
Scenario
LeafSpine(uint32_t hosts, Balancing balancing)
{
    Scenario s;
    s.timeLimit = PS_PER_SECOND;
    s.isSwitch.assign(size_t{LEAVES} * hosts, false);
    s.isSwitch.insert(s.isSwitch.end(), LEAVES + hosts, true);
    const uint32_t leaf = LEAVES * hosts;
    for (uint32_t i = 0; i < LEAVES * hosts; ++i)
    {
        s.links.push_back({i, leaf + i / hosts, 100e9, US});
    }
    for (uint32_t i = 0; i < LEAVES * hosts; ++i)
    {
        s.links.push_back({leaf + i / hosts, leaf + LEAVES + i % hosts, 100e9, US});
    }
    s.controllers.push_back({"fixed-window", {}});
    s.paths = PathSpec{.balancing = balancing};
    return s;
}

/// Bytes that each spine got of a leaf.
std::vector<uint64_t>
SentUp(TestNetwork& net, uint32_t leaf, uint32_t hosts)
{
    std::vector<uint64_t> bytes;
    for (uint32_t i = 0; i < hosts; ++i)
    {
        bytes.push_back(net.PortTo(leaf, LEAVES * hosts + LEAVES + i).TxBytes());
    }
    return bytes;
}

TEST("packets in turn load all paths alike, to the packet")
{
    Scenario s = LeafSpine(4, Balancing::InTurn);
    AddFlow(s, 0, 4, 401 * 1000);
    TestNetwork net(std::move(s));
    net->Run();
    const auto bytes = SentUp(net, 8, 4);
    ASSERT_EQ(*std::max_element(bytes.begin(), bytes.end()),
              101 * PACKET,
              "the one that got one more");
    ASSERT_EQ(std::count(bytes.begin(), bytes.end(), 100 * PACKET), 3, "the others");
    const auto answers = SentUp(net, 9, 4);
    ASSERT_LE(*std::max_element(answers.begin(), answers.end()) -
                  *std::min_element(answers.begin(), answers.end()),
              60,
              "their ACKs as well");
    ASSERT_EQ(net->Records()[0].retransmittedBytes, 0, "equal paths, each empty: in order");
    ASSERT_EQ(net->Records()[0].order->late, 0, "none overtaken");
    ASSERT_EQ(net->Records()[0].order->arrived, 401, "counted");
}

TEST("data and ACKs to one host that alternate do not each keep to their own paths")
{
    Scenario s = LeafSpine(4, Balancing::InTurn);
    AddFlow(s, 0, 4, 400 * 1000);
    AddFlow(s, 4, 0, 400 * 1000);
    TestNetwork net(std::move(s));
    net->Run();
    const auto bytes = SentUp(net, 8, 4);
    ASSERT_LE(*std::max_element(bytes.begin(), bytes.end()) -
                  *std::min_element(bytes.begin(), bytes.end()),
              PACKET + 60,
              "each spine gets as many of either, but for one");
}

TEST("packets by chance load all paths alike, as a multinomial distribution has it")
{
    Scenario s = LeafSpine(4, Balancing::Random);
    AddFlow(s, 0, 4, 4000 * 1000);
    TestNetwork net(std::move(s));
    net->Run();
    for (const uint64_t bytes : SentUp(net, 8, 4))
    {
        // 1000 of 4000 with a deviation of sqrt(4000 * 1/4 * 3/4) = 27.4
        EXPECT_NEAR(static_cast<double>(bytes) / PACKET, 1000, 4 * 27.4, "packets of one spine");
    }
}

/// All hosts of a leaf send at line rate to those of the other, host to host.
Scenario
Across(uint32_t hosts, Balancing balancing)
{
    Scenario s = LeafSpine(hosts, balancing);
    AddFlow(s, 0, 1, 1, 200 * US); // an episode has a flow
    for (uint32_t i = 0; i < hosts; ++i)
    {
        s.streams.push_back({{i + 1, i, hosts + i, ENDLESS_BYTES, 0}, 100e9, NEVER});
    }
    return s;
}

TEST("the least queue keeps queues to a packet or two where chance makes them long")
{
    const auto longest = [](Balancing balancing)
    {
        TestNetwork net(Across(8, balancing));
        net->Run();
        uint64_t bytes = 0;
        for (uint32_t spine = 0; spine < 8; ++spine)
        {
            bytes = std::max<uint64_t>(bytes, net.PortTo(16, 18 + spine).Stats()->Max());
        }
        return bytes;
    };
    ASSERT_LE(longest(Balancing::LeastQueue), 3 * PACKET, "of the leaf's uplinks");
    ASSERT_GE(longest(Balancing::Random), 10 * PACKET, "of the leaf's uplinks");
}

TEST("a flow's packets keep to ECMP's path while it does not pause for longer than the gap")
{
    Scenario steered = LeafSpine(8, Balancing::Flowlet);
    Scenario plain = steered;
    plain.paths.reset();
    std::vector<std::vector<uint64_t>> bytes;
    for (Scenario* s : {&steered, &plain})
    {
        for (uint32_t i = 0; i < 8; ++i)
        {
            AddFlow(*s, i, 8 + (i + 3) % 8, 50'000, i * 1000);
        }
        TestNetwork net(*s);
        net->Run();
        bytes.push_back(SentUp(net, 16, 8));
        const auto answers = SentUp(net, 17, 8);
        bytes.back().insert(bytes.back().end(), answers.begin(), answers.end());
        ASSERT_EQ(net->Unfinished(), 0, "all end");
    }
    ASSERT(bytes[0] == bytes[1], "each spine gets the same");
}

TEST("after a pause that is longer than the gap a flow draws its path anew")
{
    // A stream of a packet each 10 us is a flowlet each 10 us, or a single one.
    const auto used = [](Picos gap)
    {
        Scenario s = LeafSpine(8, Balancing::Flowlet);
        s.paths->gap = gap;
        AddFlow(s, 1, 2, 1, 2 * MS);
        s.streams.push_back({{1, 0, 8, ENDLESS_BYTES, 0}, PACKET * 8 / 10e-6, NEVER});
        TestNetwork net(std::move(s));
        net->Run();
        const auto bytes = SentUp(net, 16, 8);
        return std::count_if(bytes.begin(), bytes.end(), [](uint64_t x) { return x > 0; });
    };
    ASSERT_EQ(used(10'001 * PS_PER_NS), 1, "spines in use: the pause is shorter");
    ASSERT_EQ(used(9'999 * PS_PER_NS), 8, "spines in use: 200 draws miss one of 8 in 2e-11 cases");
}

/// RFC 4737, section 4.2.2: the extent is the distance to the first that overtook, in packets that arrived.
TEST("reordering is counted as RFC 4737 has it")
{
    const auto of = [](std::vector<Picos> sent)
    {
        PacketOrder order;
        for (const Picos time : sent)
        {
            order.OnArrival(time);
        }
        return std::vector<uint64_t>{order.Arrived(), order.Late(), order.Distance()};
    };
    using Counts = std::vector<uint64_t>;
    EXPECT(of({1, 2, 3, 4}) == (Counts{4, 0, 0}), "in order");
    EXPECT(of({1, 2, 5, 9}) == (Counts{4, 0, 0}), "what is lost reorders nothing");
    EXPECT(of({2, 1}) == (Counts{2, 1, 1}), "swapped");
    EXPECT(of({1, 2, 3, 7, 8, 4, 5, 6}) == (Counts{8, 3, 4}), "three late: extents 2, 3 and 4");
    EXPECT(of({4, 3, 2, 1}) == (Counts{4, 3, 3}), "turned round");
}

TEST("each ACK echoes the mark of the packet that it answers, whichever way that took")
{
    Scenario s = LeafSpine(4, Balancing::InTurn);
    s.ecn = {.enabled = true,
             .kminBytes = 2000,
             .kmaxBytes = 20'000,
             .pmax = 0.5,
             .atRateBps = 100e9};
    AddFlow(s, 0, 4, 100'000);
    AddFlow(s, 1, 4, 100'000, 100 * PS_PER_NS);
    TestNetwork net(std::move(s));
    std::map<PacketKind, uint64_t> marked;
    const auto look = [&](const Packet& packet) -> bool
    {
        marked[packet.kind] += packet.ecnMarked ? 1 : 0;
        return false;
    };
    const auto filter = Callback<bool, const Packet&>(look);
    net.PortTo(9, 4).SetDropFilter(filter); // data to the receiver
    net.PortTo(8, 0).SetDropFilter(filter); // ACKs to the senders
    net.PortTo(8, 1).SetDropFilter(filter);
    net->Run();
    ASSERT_EQ(net->Records()[0].order->late + net->Records()[1].order->late, 0, "all in order");
    ASSERT_GT(marked[PacketKind::Data], 20, "marked");
    ASSERT_EQ(marked[PacketKind::Ack], marked[PacketKind::Data], "echoed");
}

TEST("each way is told by its ACKs")
{
    std::set<uint32_t> ways;
    Scenario s = LeafSpine(8, Balancing::InTurn);
    AddFlow(s, 0, 8, 80'000);
    TestNetwork net(std::move(s));
    const auto look = [&](const Packet& packet) -> bool
    {
        if (packet.kind == PacketKind::Ack)
        {
            ways.insert(packet.way);
        }
        return false;
    };
    net.PortTo(16, 0).SetDropFilter(Callback<bool, const Packet&>(look));
    net->Run();
    ASSERT_EQ(ways.size(), 8, "as many ways as spines");
}

} // namespace

} // namespace ns3::env::rdma::test
