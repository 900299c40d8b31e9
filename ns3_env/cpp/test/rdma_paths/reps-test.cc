// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of REPS: entropies in use, balance over equal paths, and paths that are slow or down.
#include "ns3_env/cpp/rdma/host/recycled-entropies.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <algorithm>
#include <set>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-reps");

constexpr uint32_t HOSTS = 4; ///< of each of two leaves; as many spines
constexpr uint32_t LEAF = 2 * HOSTS;

/// Two leaves and four spines, and a flow from each host of the first leaf.
Scenario
Steered(Balancing balancing, uint64_t packets)
{
    Scenario s = LeafSpine(2, HOSTS, HOSTS);
    s.paths = PathSpec{.balancing = balancing, .freezing = 10 * MS, .convergence = 1000 * MS};
    s.selectiveRepeat = SelectiveRepeatConfig{.reorderPackets = 64};
    s.ecn = {true, 30e3, 30e3, 1.0, 100e9};
    s.controllers[0] = {"dctcp", {}};
    for (uint32_t host = 0; host < HOSTS; ++host)
    {
        AddFlow(s, host, HOSTS + host, packets * 1000);
    }
    return s;
}

/// Bytes that each spine got of the senders' leaf.
std::vector<double>
SentUp(TestNetwork& net)
{
    std::vector<double> bytes;
    for (uint32_t i = 0; i < HOSTS; ++i)
    {
        bytes.push_back(static_cast<double>(net.PortTo(LEAF, LEAF + 2 + i).TxBytes()));
    }
    return bytes;
}

/// Without a network.
TEST("an entropy without a mark is used for one more packet, and a frozen sender repeats the last "
     "ones")
{
    RecycledEntropies entropies(1, 0, 3, 100 * US);
    const auto next = [&](uint32_t count)
    {
        std::vector<uint16_t> values(count);
        std::ranges::generate(values, [&] { return entropies.Next(); });
        return values;
    };
    using Values = std::vector<uint16_t>;
    entropies.OnAck(7, false, 0);
    std::set<uint16_t> first;
    for (int i = 0; i < 3; ++i)
    {
        first.insert(entropies.Next());
    }
    ASSERT_EQ(first.size(), 3, "random for a BDP");
    ASSERT(!first.contains(7), "whatever is acknowledged");
    entropies.OnAck(8, true, 0);
    entropies.OnAck(9, false, 0);
    ASSERT(next(2) == Values({7, 9}), "oldest first, no marked one");
    ASSERT(entropies.Next() != 7, "once each");
    entropies.OnLoss(10 * US);
    ASSERT(next(3) == Values({7, 9, 7}), "frozen");
    entropies.OnAck(11, false, 109 * US);
    ASSERT(next(2) == Values({11, 7}), "a new one first");
    entropies.OnAck(12, false, 110 * US);
    ASSERT(entropies.Next() != 12, "after the freezing time paths are explored");
    for (uint16_t fresh = 100; fresh < 120; ++fresh)
    {
        entropies.OnAck(fresh, false, 120 * US);
    }
    entropies.Next();
    entropies.Next();
    ASSERT_EQ(entropies.Next(), 112, "of many the last eight");
}

TEST("equal paths carry equal loads, and flows take as long as under spraying")
{
    const auto last = [](Balancing balancing)
    {
        Played net(Steered(balancing, 4000));
        for (const double bytes : SentUp(net))
        {
            EXPECT_NEAR(bytes / PACKET_BYTES, 4000, 0.2 * 4000, "of one spine");
        }
        EXPECT_EQ(net.Of(0).retransmittedBytes, 0, "again");
        return static_cast<double>(std::ranges::max(net.Ends()));
    };
    EXPECT_NEAR(last(Balancing::Recycled) / last(Balancing::Random), 1, 0.02, "ratio of ends");
}

/// One of four uplinks has a tenth of the others' rate, and the senders half of all.
TEST("a slow path gets few packets after the first round trip")
{
    const auto play = [](Balancing balancing)
    {
        Scenario s = Steered(balancing, 4000);
        s.flows.resize(2);
        s.links[LEAF].rateBps = 10e9; // to the first spine
        Played net(std::move(s));
        return std::pair(SentUp(net).front() / PACKET_BYTES, std::ranges::max(net.Ends()));
    };
    const auto [slow, end] = play(Balancing::Recycled);
    const auto [sprayed, sprayedEnd] = play(Balancing::Random);
    EXPECT_LE(slow, 0.05 * 8000, "packets on it");
    EXPECT_NEAR(sprayed, 0.25 * 8000, 100, "of random ones"); // 3 deviations
    EXPECT_LE(3 * end, sprayedEnd, "completion");
}

/// Switches never learn of the failure: a quarter of random paths loses its packets.
TEST("a path that fails costs the packets in flight, and few after them")
{
    const auto lost = [](Balancing balancing)
    {
        Scenario s = Steered(balancing, 4000);
        s.flows.resize(1);
        s.paths->outages = {{LEAF, LEAF + 2, 100 * US, NEVER}};
        Played net(std::move(s));
        return net->Context().droppedPackets;
    };
    EXPECT_LE(lost(Balancing::Recycled), 100, "REPS: packets of a BDP");
    EXPECT_GE(lost(Balancing::Random), 700, "spraying: a quarter of the rest");
}

} // namespace

} // namespace ns3::env::rdma::test
