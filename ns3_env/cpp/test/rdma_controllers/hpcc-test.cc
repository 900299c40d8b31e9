// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of HPCC as in docs/sources/published-simulator.md: utilisation, rate, window, commit.
#include "ns3/uinteger.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/hpcc.h"
#include "ns3_env/cpp/test/suite.h"

#include <cmath>

namespace ns3::env::rdma
{

namespace
{

SUITE("rdma-hpcc");

IntRecord
Hop(uint64_t txBytes, int64_t timeNs, uint32_t queueBytes, uint64_t rateBps = 100'000'000'000)
{
    return {.txBytes = txBytes,
            .timeNs = timeNs,
            .rateBps = rateBps,
            .queueBytes = queueBytes,
            .flows = 1};
}

void
Ack(Hpcc& hpcc, FakeFlow& flow, std::vector<IntRecord> hops, uint32_t way = 0)
{
    hpcc.OnAck(flow, {.now = 0, .rtt = 0, .way = way, .hops = hops});
}

TEST("starts at line rate with a window of maxBDP; the first ACK only stores")
{
    const PathFacts facts = DumbbellFacts(1090);
    FakeFlow flow(facts);
    auto hpcc = CreateObject<Hpcc>();
    EXPECT_EQ(hpcc->GetIntRequest().wireBytes, 42, "REFERENCE: 42 B");
    EXPECT(hpcc->GetIntRequest().quantised, "header units");
    hpcc->OnFlowStart(flow);
    EXPECT_EQ(flow.WindowBytes(), 78000, "REFERENCE: 78000 B");
    flow.Sent(20000);
    flow.Acked(1000);
    Ack(*hpcc, flow, {Hop(0, 1000, 50000)});
    EXPECT_EQ(flow.WindowBytes(), 78000, "stored only");
    EXPECT_EQ(flow.RateBps(), 100e9, "stored only");
}

TEST("a window is a BDP also where BDP times rate passes 64 bits, but in the published simulator")
{
    PathFacts facts = DumbbellFacts(1090);
    facts.hostRateBps = 800e9;
    facts.maxBdpBytes = 23e6; // of 0.23 ms: 1.84e19, and 2^64 is 1.845e19
    FakeFlow flow(facts);
    CreateObject<Hpcc>()->OnFlowStart(flow);
    EXPECT_EQ(flow.WindowBytes(), 23e6, "below");
    facts.maxBdpBytes = 24e6;
    CreateObject<Hpcc>()->OnFlowStart(flow);
    EXPECT_EQ(flow.WindowBytes(), 24e6, "beyond");
    facts.windowsWrap = true;
    CreateObject<Hpcc>()->OnFlowStart(flow);
    EXPECT_EQ(flow.WindowBytes(), 941'569, "less 2^64 over the rate");
}

TEST("u, rate, window and pacing follow the busiest hop; the reference rate commits once "
     "per window")
{
    const PathFacts facts = DumbbellFacts(1090);
    FakeFlow flow(facts);
    auto hpcc = CreateObject<Hpcc>();
    hpcc->OnFlowStart(flow);
    flow.Sent(20000);
    flow.Acked(1000);
    Ack(*hpcc, flow, {Hop(0, 1000, 39000), Hop(0, 1100, 0, 400'000'000'000)});

    // 870 ns later the first port sent at line rate over a queue of half a BDP; the second idles.
    flow.Acked(2000);
    Ack(*hpcc, flow, {Hop(10875, 1870, 40000), Hop(4350, 1970, 0, 400'000'000'000)});
    const double hop = 1.0 + 0.5; // txRate / B + min(q, q') / maxBDP
    double u = (1.0 * (6240 - 870) + hop * 870) / 6240;
    EXPECT_NEAR(hpcc->Utilisation(), u, 1e-12, "u");
    double rate = std::floor(100e9 / (u / 0.95)) + 40e6;
    EXPECT_NEAR(flow.RateBps(), rate, 1.0, "rate = reference / max_c + AI");
    EXPECT_NEAR(flow.WindowBytes(), std::floor(78000 * rate / 100e9), 1e-9, "W");
    const Picos moved = SerialisationTime(1090, rate, Rounding::TruncateNs) -
                        SerialisationTime(1090, 100e9, Rounding::TruncateNs);
    EXPECT_EQ(flow.NextAvailable(), moved, "the waiting packet was moved");

    // Nothing commits before byte 20000, so the reference rate is still line rate.
    flow.Acked(3000);
    Ack(*hpcc, flow, {Hop(21750, 2740, 39000), Hop(8700, 2840, 0, 400'000'000'000)});
    u = (u * (6240 - 870) + hop * 870) / 6240;
    rate = std::floor(100e9 / (u / 0.95)) + 40e6;
    EXPECT_NEAR(flow.RateBps(), rate, 1.0, "fast reaction, reference rate kept");

    // Past byte 20000 the rate just computed becomes the reference rate.
    flow.Sent(40000);
    flow.Acked(20001);
    Ack(*hpcc, flow, {Hop(32625, 3610, 39000), Hop(13050, 3710, 0, 400'000'000'000)});
    u = (u * (6240 - 870) + hop * 870) / 6240;
    const double committed = std::floor(100e9 / (u / 0.95)) + 40e6;
    EXPECT_NEAR(flow.RateBps(), committed, 1.0, "committed");
    flow.Acked(21001);
    Ack(*hpcc, flow, {Hop(43500, 4480, 39000), Hop(17400, 4580, 0, 400'000'000'000)});
    u = (u * (6240 - 870) + hop * 870) / 6240;
    rate = std::floor(committed / (u / 0.95)) + 40e6;
    EXPECT_NEAR(flow.RateBps(), rate, 1.0, "from the committed rate");
}

TEST("the rate stays in [min, line], tau is capped at T, and MaxStage adds before it "
     "scales")
{
    const PathFacts facts = DumbbellFacts(1090);
    FakeFlow flow(facts);
    auto hpcc = CreateObject<Hpcc>();
    hpcc->OnFlowStart(flow);
    flow.Sent(1000);
    Ack(*hpcc, flow, {Hop(0, 0, 1'000'000'000)});
    Ack(*hpcc, flow, {Hop(0, 1'000'000, 1'000'000'000)});
    EXPECT_NEAR(hpcc->Utilisation(), 1e9 / 78000, 1e-6, "tau capped at T");
    EXPECT_EQ(flow.RateBps(), 1e9, "min rate");
    EXPECT_EQ(flow.WindowBytes(), 1000, "one packet stays in flight");
    Ack(*hpcc, flow, {Hop(8, 2'000'000, 0)});
    EXPECT_EQ(flow.RateBps(), 100e9, "line rate on a nearly idle path");
    EXPECT_EQ(flow.WindowBytes(), 78000, "and its window");

    auto staged = CreateObject<Hpcc>();
    staged->SetAttribute("MaxStage", UintegerValue(5));
    FakeFlow other(facts);
    staged->OnFlowStart(other);
    other.Sent(1000);
    other.Acked(1000);
    Ack(*staged, other, {Hop(0, 0, 78000)});
    other.Acked(1001);
    Ack(*staged, other, {Hop(78000, 6240, 78000)}); // u = 2: rate 47.5 G + AI, committed
    EXPECT_NEAR(other.RateBps(), 47.54e9, 1.0, "multiplicative above the target");
    other.Acked(1002);
    Ack(*staged, other, {Hop(78008, 12480, 0)}); // u near 0: stage 1
    EXPECT_NEAR(other.RateBps(), 47.58e9, 1.0, "additive below it");
}

TEST("records of one way are not compared with those of another")
{
    const PathFacts facts = DumbbellFacts(1090);
    FakeFlow flow(facts);
    auto hpcc = CreateObject<Hpcc>();
    hpcc->OnFlowStart(flow);
    flow.Sent(1000);
    Ack(*hpcc, flow, {Hop(0, 0, 78000)}, 7);
    Ack(*hpcc, flow, {Hop(900'000'000, 6240, 78000)}, 8); // 144 Tb/s, were it the same port
    EXPECT_EQ(flow.RateBps(), 100e9, "the way has changed: stored only");
    Ack(*hpcc, flow, {Hop(900'078'000, 12480, 78000)}, 8); // u = 2 of the new path
    EXPECT_NEAR(flow.RateBps(), 47.54e9, 1.0, "compared with its own");
}

} // namespace

} // namespace ns3::env::rdma
