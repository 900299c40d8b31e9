// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of late and coalesced answers, and of corruption by link and direction.
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <cmath>
#include <map>
#include <utility>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-nic-answers");

/// A single flow of some packets, and the packets that its receiver sent.
struct Alone
{
    explicit Alone(const NicConfig& nic,
                   uint64_t packets = 1000,
                   uint64_t window = 0,
                   bool selective = false)
    {
        Scenario s = Exact(1, {{0, 1, packets * 1000}});
        s.nic = nic;
        SetWindow(s, window);
        if (selective)
        {
            s.selectiveRepeat.emplace();
        }
        TestNetwork net(std::move(s));
        Trace(*net->Nics()[1], "Tx", [&](const Packet&) { ++acks; });
        net->Run();
        record = net.Of(0);
        EXPECT_EQ(net->Context().pool.LiveCount(), 0, "nothing is kept");
    }

    FlowRecord record;
    uint64_t acks{0};
};

TEST("with an ACK every n packets there are as many as n go into them, and one for the rest")
{
    const Alone each{NicConfig{}};
    EXPECT_EQ(each.acks, 1000, "one each");
    for (const uint32_t n : {2U, 3U, 7U, 1000U, 5000U})
    {
        const Alone coalesced{NicConfig{.ackEvery = n}};
        EXPECT_EQ(coalesced.acks, (1000 + n - 1) / n, "rounded up: the last has one at once");
        EXPECT_EQ(coalesced.record.end, each.record.end, "it ends as soon, every " << n);
    }
}

TEST("a window that closes has its ACK at once, however many were to be answered together")
{
    for (const uint64_t window : {500, 1000, 3000, 20'000})
    {
        const Alone each{NicConfig{}, 200, window};
        const Alone coalesced{NicConfig{.ackEvery = 64}, 200, window};
        EXPECT_EQ(coalesced.record.timeouts, 0, "nobody waits for a timeout: " << window);
        EXPECT_LE(coalesced.record.end, 2 * each.record.end, "nor for long: " << window);
        EXPECT_LT(coalesced.acks, each.acks + (window <= 1000 ? 1 : 0), "fewer: " << window);
    }
    // a cap of one BDP, about 78 packets
    const Alone capped{NicConfig{.ackEvery = 500}, 1000, 0, true};
    EXPECT_EQ(capped.record.timeouts, 0, "so it is with the cap of selective repeat");
}

TEST("an ACK of several packets is marked if one of them is, also one before the last")
{
    Scenario s = Exact(2, {{0, 2, 500'000}, {1, 2, 500'000}});
    s.ecn = EcnConfig{true, 5e3, 200e3, 0.5, 100e9}; // marks some packets
    s.nic.ackEvery = 4;
    TestNetwork net(std::move(s));
    Nic& receiver = *net->Nics()[2];
    std::map<uint32_t, bool> owes; // by flow
    std::map<bool, uint32_t> acks; // by their mark
    Trace(receiver, "Rx", [&](const Packet& data) { owes[data.flow->Id()] |= data.ecnMarked; });
    Trace(receiver,
          "Tx",
          [&](const Packet& ack)
          {
              EXPECT_EQ(ack.ecnMarked, std::exchange(owes[ack.flow->Id()], false), "its mark");
              ++acks[ack.ecnMarked];
          });
    net->Run();
    EXPECT_GT(acks[false], 10, "of either kind: not marked");
    EXPECT_GT(acks[true], 10, "and marked");
}

TEST("a delay of ACKs is a part of the base RTT and of what a flow takes alone")
{
    const Alone prompt{NicConfig{}};
    const Alone late{NicConfig{.ackDelay = 3 * US}};
    EXPECT_EQ(late.record.baseRtt - prompt.record.baseRtt, 3 * US, "base RTT");
    EXPECT_EQ(late.record.end - prompt.record.end, 3 * US, "its end");
    EXPECT_EQ(late.record.end, late.record.standalone, "alone");
}

/// Two flows into one link, which marks all of its packets; when the first of them cut its rate.
TEST("a delay of CNPs shifts DCQCN's first cut by exactly that")
{
    const auto firstCut = [](Picos cnpDelay) -> Picos
    {
        Scenario s = Exact(2, {{0, 2, 2'000'000}, {1, 2, 2'000'000}}, "dcqcn");
        s.nic.cnpDelay = cnpDelay;
        s.ecn = {.enabled = true, .kminBytes = 0, .kmaxBytes = 0, .pmax = 1, .atRateBps = 100e9};
        s.recordWindows = true;
        Played net(std::move(s));
        const auto& changes = net.Recorded().windows->Changes();
        const auto first = std::ranges::find_if(changes, [](auto x) { return x.rateBps < 100e9; });
        return first == changes.end() ? -1 : first->time;
    };
    // Packets leave, and thus read the rate, one packet time apart.
    const Picos prompt = firstCut(0);
    ASSERT_GT(prompt, 0, "it cuts");
    constexpr Picos PACKET = 83'840;
    for (const int64_t packets : {100, 250})
    {
        EXPECT_EQ(firstCut(packets * PACKET) - prompt, packets * PACKET, packets << " packets");
    }
}

TEST("a link corrupts one direction alone, with the probability of its frames")
{
    constexpr double RATE = 2e-6; // of a bit: 1.66 % of 1048 B, 0.1 % of 60 B
    for (const bool forward : {true, false})
    {
        const std::pair corrupt = forward ? std::pair{2U, 3U} : std::pair{3U, 2U};
        Scenario s = Exact(1, {{0, 1, 40'000'000}});
        s.selectiveRepeat.emplace();
        s.corruption[corrupt] = {.bitErrorRate = RATE};
        Played net(std::move(s));
        for (const Port* port : net->Ports())
        {
            const double share = -std::expm1(8 * (forward ? 1048 : 60) * std::log1p(-RATE));
            const bool is = std::pair{port->NodeId(), port->Peer().NodeId()} == corrupt;
            const double mean = is ? 40'000 * share : 0;
            const uint64_t lost = port->Lost().By(LossCause::Link).packets;
            ASSERT_NEAR(lost, mean, 4 * std::sqrt(mean), "node " << port->NodeId());
        }
    }
}

} // namespace

} // namespace ns3::env::rdma::test
