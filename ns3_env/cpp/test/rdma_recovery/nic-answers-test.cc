// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of late and coalesced answers, and of corruption by link and direction.
#include "ns3_env/cpp/test/rdma/test-network.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-nic-answers");

constexpr Picos US = 1000 * PS_PER_NS;

/// A single flow of 1000 packets, and the packets that its source and its receiver sent.
struct Alone
{
    explicit Alone(const NicConfig& nic,
                   uint64_t packets = 1000,
                   const char* window = "0",
                   bool selective = false)
    {
        Scenario s = Dumbbell(1, 100e9);
        s.published = false;
        s.nic = nic;
        s.controllers[0].attributes = {{"Window", window}};
        if (selective)
        {
            s.selectiveRepeat.emplace();
        }
        AddFlow(s, 0, 1, packets * 1000);
        TestNetwork net(std::move(s));
        net->Nics()[1]->SetDropFilter(Callback<bool, const Packet&>(
            [&](const Packet&)
            {
                ++acks;
                return false;
            }));
        net->Run();
        record = net->Records()[0];
        left = net->Context().pool.LiveCount();
    }

    FlowRecord record;
    uint64_t acks{0};
    uint64_t left{0};
};

TEST("with an ACK every n packets there are as many as n go into them, and one for the rest")
{
    const Alone each{NicConfig{}};
    EXPECT_EQ(each.acks, 1000, "one each");
    for (const uint32_t n : {2U, 3U, 7U, 1000U, 5000U})
    {
        const Case about("every " + std::to_string(n));
        const Alone coalesced{NicConfig{.ackEvery = n}};
        EXPECT_EQ(coalesced.acks, (1000 + n - 1) / n, "rounded up: the last has one at once");
        EXPECT_EQ(coalesced.record.end, each.record.end, "it ends as soon");
        EXPECT_EQ(coalesced.left, 0, "nothing is kept");
    }
}

TEST("a window that closes has its ACK at once, however many were to be answered together")
{
    for (const char* window : {"500", "1000", "3000", "20000"})
    {
        const Case about(window);
        const Alone each{NicConfig{}, 200, window};
        const Alone coalesced{NicConfig{.ackEvery = 64}, 200, window};
        EXPECT_EQ(coalesced.record.timeouts, 0, "nobody waits for a timeout");
        EXPECT_LE(coalesced.record.end, 2 * each.record.end, "nor for long");
        EXPECT_LT(coalesced.acks, each.acks + (std::atoi(window) <= 1000 ? 1 : 0), "fewer");
    }
    // a cap of one BDP, about 78 packets
    const Alone capped{NicConfig{.ackEvery = 500}, 1000, "0", true};
    EXPECT_EQ(capped.record.timeouts, 0, "so it is with the cap of selective repeat");
}

TEST("a delay of ACKs is a part of the base RTT and of what a flow takes alone")
{
    const Alone prompt{NicConfig{}};
    const Alone late{NicConfig{.ackDelay = 3 * US}};
    EXPECT_EQ(late.record.baseRtt - prompt.record.baseRtt, 3 * US, "base RTT");
    EXPECT_EQ(late.record.end - prompt.record.end, 3 * US, "its end");
    EXPECT_EQ(late.record.end, late.record.standalone, "alone");
    EXPECT_EQ(late.left, 0, "nothing is kept");
}

/// Two flows into one link, which marks all of its packets; when the first of them cut its rate.
Picos
FirstCut(Picos cnpDelay, Picos* end = nullptr)
{
    Scenario s = Dumbbell(2, 100e9);
    s.published = false;
    s.nic.cnpDelay = cnpDelay;
    s.controllers[0].name = "dcqcn";
    s.ecn = {.enabled = true, .kminBytes = 0, .kmaxBytes = 0, .pmax = 1, .atRateBps = 100e9};
    s.recordWindows = true;
    AddIncast(s, 2, 2'000'000);
    TestNetwork net(std::move(s));
    net->Run();
    EXPECT_EQ(net->Unfinished(), 0, "both end");
    if (end != nullptr)
    {
        *end = std::max(net->Records()[0].end, net->Records()[1].end);
    }
    for (const auto& change : net.Recorded().windows->Changes())
    {
        if (change.rateBps < 100e9)
        {
            return change.time;
        }
    }
    return -1;
}

TEST("a delay of CNPs shifts DCQCN's first cut by exactly that")
{
    // Packets leave, and thus read the rate, one packet time apart.
    const Picos prompt = FirstCut(0);
    ASSERT_GT(prompt, 0, "it cuts");
    constexpr Picos PACKET = 83'840;
    for (const int64_t packets : {100, 250})
    {
        EXPECT_EQ(FirstCut(packets * PACKET) - prompt, packets * PACKET, packets << " packets");
    }
    Picos first = 0;
    Picos second = 0;
    FirstCut(55 * US, &first);
    FirstCut(55 * US, &second);
    EXPECT_EQ(first, second, "the same scenario, the same bits");
}

TEST("a link corrupts one direction alone, with the probability of its frames")
{
    constexpr double RATE = 2e-6; // of a bit: 1.66 % of 1048 B, 0.1 % of 60 B
    for (const bool forward : {true, false})
    {
        Scenario s = Dumbbell(1, 100e9);
        s.published = false;
        s.selectiveRepeat.emplace();
        s.corruption[forward ? std::pair{2U, 3U} : std::pair{3U, 2U}] = {.bitErrorRate = RATE};
        AddFlow(s, 0, 1, 40'000'000);
        TestNetwork net(std::move(s));
        net->Run();
        ASSERT_EQ(net->Unfinished(), 0, "it ends");
        for (const Port* port : net->Ports())
        {
            const uint64_t lost = port->Lost().By(LossCause::Link).packets;
            const bool corrupt =
                port->NodeId() == (forward ? 2 : 3) && port->Peer().NodeId() == (forward ? 3 : 2);
            const double share = -std::expm1(8 * (forward ? 1048 : 60) * std::log1p(-RATE));
            const double mean = corrupt ? 40'000 * share : 0;
            ASSERT_NEAR(static_cast<double>(lost),
                        mean,
                        4 * std::sqrt(mean),
                        "node " << port->NodeId());
        }
    }
}

} // namespace

} // namespace ns3::env::rdma::test
