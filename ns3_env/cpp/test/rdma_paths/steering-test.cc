// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of load balancing per packet: each method's choice of ports, and the count of reordering.
#include "ns3_env/cpp/engine/packet-order.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <map>
#include <set>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-steering");

/// Two leaves of `hosts` each and as many spines, with flows and a stream.
Scenario
Steered(uint32_t hosts, Balancing balancing, const std::vector<FlowRow>& flows)
{
    Scenario s = LeafSpine(2, hosts, hosts);
    s.paths = PathSpec{.balancing = balancing};
    AddFlows(s, flows);
    return s;
}

/// Bytes that each spine got of a leaf.
std::vector<uint64_t>
SentUp(TestNetwork& net, uint32_t leaf, uint32_t hosts)
{
    std::vector<uint64_t> bytes;
    for (uint32_t i = 0; i < hosts; ++i)
    {
        bytes.push_back(net.PortTo(leaf, 2 * hosts + 2 + i).TxBytes());
    }
    return bytes;
}

uint64_t
Spread(const std::vector<uint64_t>& values)
{
    const auto [least, most] = std::ranges::minmax(values);
    return most - least;
}

TEST("packets in turn load all paths alike, to the packet")
{
    Played net(Steered(4, Balancing::InTurn, {{0, 4, 401 * 1000}}));
    const auto bytes = SentUp(net, 8, 4);
    ASSERT_EQ(std::ranges::max(bytes), 101 * PACKET_BYTES, "the one that got one more");
    ASSERT_EQ(std::ranges::count(bytes, 100 * PACKET_BYTES), 3, "the others");
    ASSERT_LE(Spread(SentUp(net, 9, 4)), 60, "their ACKs as well");
    ASSERT_EQ(net.Of(0).retransmittedBytes, 0, "equal paths, each empty: in order");
    ASSERT_EQ(net.Of(0).order->late, 0, "none overtaken");
    ASSERT_EQ(net.Of(0).order->arrived, 401, "counted");
}

TEST("data and ACKs to one host that alternate do not each keep to their own paths")
{
    Played net(Steered(4, Balancing::InTurn, {{0, 4, 400 * 1000}, {4, 0, 400 * 1000}}));
    ASSERT_LE(Spread(SentUp(net, 8, 4)), PACKET_BYTES + 60, "as many of either, but for one");
}

TEST("packets by chance load all paths alike, as a multinomial distribution has it")
{
    Played net(Steered(4, Balancing::Random, {{0, 4, 4000 * 1000}}));
    for (const uint64_t bytes : SentUp(net, 8, 4))
    {
        // 1000 of 4000 with a deviation of sqrt(4000 * 1/4 * 3/4) = 27.4
        EXPECT_NEAR(static_cast<double>(bytes) / PACKET_BYTES, 1000, 4 * 27.4, "of one spine");
    }
}

/// All hosts of a leaf send at line rate to those of the other, host to host.
TEST("the least queue keeps queues to a packet or two where chance makes them long")
{
    const auto longest = [](Balancing balancing)
    {
        Scenario s = Steered(8, balancing, {{0, 1, 1, 200 * US}}); // an episode has a flow
        for (uint32_t i = 0; i < 8; ++i)
        {
            AddStream(s, i, 8 + i, 100e9);
        }
        Played net(std::move(s));
        uint64_t bytes = 0;
        for (uint32_t spine = 0; spine < 8; ++spine)
        {
            bytes = std::max<uint64_t>(bytes, net.PortTo(16, 18 + spine).Stats()->Max());
        }
        return bytes;
    };
    ASSERT_LE(longest(Balancing::LeastQueue), 3 * PACKET_BYTES, "of the leaf's uplinks");
    ASSERT_GE(longest(Balancing::Random), 10 * PACKET_BYTES, "of the leaf's uplinks");
}

TEST("after a pause that is longer than the gap a flow draws its path anew")
{
    // A stream of a packet each 10 us is a flowlet each 10 us, or a single one.
    const auto used = [](Picos gap)
    {
        Scenario s = Steered(8, Balancing::Flowlet, {{1, 2, 1, 2 * MS}});
        s.paths->gap = gap;
        AddStream(s, 0, 8, PACKET_BYTES * 8 / 10e-6);
        Played net(std::move(s));
        return std::ranges::count_if(SentUp(net, 16, 8), [](uint64_t x) { return x > 0; });
    };
    ASSERT_EQ(used(10'001 * NS), 1, "spines in use: the pause is shorter");
    ASSERT_EQ(used(9'999 * NS), 8, "spines in use: 200 draws miss one of 8 in 2e-11 cases");
}

/// RFC 4737, section 4.2.2: the extent is the distance to the first that overtook, in packets that arrived.
TEST("reordering is counted as RFC 4737 has it")
{
    const auto check = [](std::vector<Picos> sent, auto counts, const char* what)
    {
        PacketOrder order;
        for (const Picos time : sent)
        {
            order.OnArrival(time);
        }
        EXPECT_EQ(Row(order.Arrived(), order.Late(), order.Distance()), counts, what);
    };
    check({1, 2, 3, 4}, Row(4, 0, 0), "in order");
    check({1, 2, 5, 9}, Row(4, 0, 0), "what is lost reorders nothing");
    check({2, 1}, Row(2, 1, 1), "swapped");
    check({1, 2, 3, 7, 8, 4, 5, 6}, Row(8, 3, 4), "three late: extents 2, 3 and 4");
    check({4, 3, 2, 1}, Row(4, 3, 3), "turned round");
}

TEST("each ACK echoes the mark of the packet that it answers, whichever way that took")
{
    Scenario s = Steered(4, Balancing::InTurn, {{0, 4, 100'000}, {1, 4, 100'000, 100 * NS}});
    s.ecn = {true, 2000, 20'000, 0.5, 100e9};
    TestNetwork net(std::move(s));
    std::map<PacketKind, uint64_t> marked;
    const auto look = [&](const Packet& packet) -> bool
    {
        marked[packet.kind] += packet.ecnMarked ? 1 : 0;
        return false;
    };
    Drop(net.PortTo(9, 4), look); // data to the receiver
    Drop(net.PortTo(8, 0), look); // ACKs to the senders
    Drop(net.PortTo(8, 1), look);
    net->Run();
    ASSERT_EQ(net.Of(0).order->late + net.Of(1).order->late, 0, "all in order");
    ASSERT_GT(marked[PacketKind::Data], 20, "marked");
    ASSERT_EQ(marked[PacketKind::Ack], marked[PacketKind::Data], "echoed");
}

TEST("each way is told by its ACKs")
{
    TestNetwork net(Steered(8, Balancing::InTurn, {{0, 8, 80'000}}));
    const auto acks = PacketsOf(*net->Nics()[0], "Rx", PacketKind::Ack);
    net->Run();
    std::set<uint32_t> ways;
    for (const Packet& ack : *acks)
    {
        ways.insert(ack.way);
    }
    ASSERT_EQ(ways.size(), 8, "as many ways as spines");
}

} // namespace

} // namespace ns3::env::rdma::test
