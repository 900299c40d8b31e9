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
    return {txBytes, timeNs, rateBps, queueBytes, 1};
}

/// A flow whose ACKs a test writes.
struct Driven
{
    explicit Driven(uint32_t maxStage = 0)
    {
        hpcc->SetAttribute("MaxStage", UintegerValue(maxStage));
        hpcc->OnFlowStart(flow);
    }

    void Ack(uint64_t acked, const std::vector<IntRecord>& hops, uint32_t way = 0)
    {
        flow.Acked(acked);
        hpcc->OnAck(flow, {.now = 0, .rtt = 0, .way = way, .hops = hops});
    }

    /// Checks the rate, to 1 bit/s.
    void Is(double rateBps, const std::string& why) const
    {
        EXPECT_NEAR(flow.RateBps(), rateBps, 1.0, why);
    }

    const PathFacts facts = DumbbellFacts(1090);
    FakeFlow flow{facts};
    Ptr<Hpcc> hpcc = CreateObject<Hpcc>();
};

TEST("starts at line rate with a window of maxBDP; the first ACK only stores")
{
    Driven driven;
    EXPECT_EQ(driven.hpcc->GetIntRequest().wireBytes, 42, "REFERENCE: 42 B");
    EXPECT(driven.hpcc->GetIntRequest().quantised, "header units");
    EXPECT_EQ(driven.flow.WindowBytes(), 78000, "REFERENCE: 78000 B");
    driven.flow.Sent(20000);
    driven.Ack(1000, {Hop(0, 1000, 50000)});
    EXPECT_EQ(driven.flow.WindowBytes(), 78000, "stored only");
    EXPECT_EQ(driven.flow.RateBps(), 100e9, "stored only");
}

TEST("a window is a BDP also where BDP times rate passes 64 bits, but in the published simulator")
{
    PathFacts facts = DumbbellFacts(1090);
    facts.hostRateBps = 800e9;
    FakeFlow flow(facts);
    const auto windowOf = [&](double bdpBytes, bool wraps)
    {
        facts.maxBdpBytes = bdpBytes; // 23 MB, of 0.23 ms: 1.84e19, and 2^64 is 1.845e19
        facts.windowsWrap = wraps;
        CreateObject<Hpcc>()->OnFlowStart(flow);
        return flow.WindowBytes();
    };
    EXPECT_EQ(windowOf(23e6, false), 23e6, "below");
    EXPECT_EQ(windowOf(24e6, false), 24e6, "beyond");
    EXPECT_EQ(windowOf(24e6, true), 941'569, "less 2^64 over the rate");
}

TEST(
    "u, rate, window and pacing follow the busiest hop; the reference rate commits once per window")
{
    Driven driven;
    const FakeFlow& flow = driven.flow;
    driven.flow.Sent(20000);
    driven.Ack(1000, {Hop(0, 1000, 39000), Hop(0, 1100, 0, 400'000'000'000)});
    double u = 1.0;
    uint64_t packets = 0;
    // Each 870 ns the first port sends at line rate over a queue of half a BDP; the second idles.
    const auto next = [&](uint64_t acked, double reference, const std::string& why)
    {
        ++packets;
        const auto time = static_cast<int64_t>(1000 + 870 * packets);
        driven.Ack(acked,
                   {Hop(10875 * packets, time, packets == 1 ? 40000 : 39000),
                    Hop(4350 * packets, time + 100, 0, 400'000'000'000)});
        u = (u * (6240 - 870) + 1.5 * 870) / 6240; // txRate / B + min(q, q') / maxBDP
        const double rate = std::floor(reference / (u / 0.95)) + 40e6;
        driven.Is(rate, why);
        return rate;
    };
    double rate = next(2000, 100e9, "rate = reference / max_c + AI");
    EXPECT_NEAR(driven.hpcc->Utilisation(), u, 1e-12, "u");
    EXPECT_NEAR(flow.WindowBytes(), std::floor(78000 * rate / 100e9), 1e-9, "W");
    const Picos moved = SerialisationTime(1090, rate, Rounding::TruncateNs) -
                        SerialisationTime(1090, 100e9, Rounding::TruncateNs);
    EXPECT_EQ(flow.NextAvailable(), moved, "the waiting packet was moved");
    next(3000, 100e9, "fast reaction: nothing commits before byte 20000");
    driven.flow.Sent(40000);
    rate = next(20001, 100e9, "past byte 20000 the rate just computed is committed");
    next(21001, rate, "from the committed rate");
}

TEST("the rate stays in [min, line], tau is capped at T, and MaxStage adds before it scales")
{
    Driven driven;
    driven.flow.Sent(1000);
    driven.Ack(0, {Hop(0, 0, 1'000'000'000)});
    driven.Ack(0, {Hop(0, 1'000'000, 1'000'000'000)});
    EXPECT_NEAR(driven.hpcc->Utilisation(), 1e9 / 78000, 1e-6, "tau capped at T");
    EXPECT_EQ(driven.flow.RateBps(), 1e9, "min rate");
    EXPECT_EQ(driven.flow.WindowBytes(), 1000, "one packet stays in flight");
    driven.Ack(0, {Hop(8, 2'000'000, 0)});
    EXPECT_EQ(driven.flow.RateBps(), 100e9, "line rate on a nearly idle path");
    EXPECT_EQ(driven.flow.WindowBytes(), 78000, "and its window");

    Driven staged(5);
    staged.flow.Sent(1000);
    staged.Ack(1000, {Hop(0, 0, 78000)});
    staged.Ack(1001, {Hop(78000, 6240, 78000)}); // u = 2: rate 47.5 G + AI, committed
    staged.Is(47.54e9, "multiplicative above the target");
    staged.Ack(1002, {Hop(78008, 12480, 0)}); // u near 0: stage 1
    staged.Is(47.58e9, "additive below it");
}

TEST("records of one way are not compared with those of another")
{
    Driven driven;
    driven.flow.Sent(1000);
    driven.Ack(0, {Hop(0, 0, 78000)}, 7);
    driven.Ack(0, {Hop(900'000'000, 6240, 78000)}, 8); // 144 Tb/s, were it the same port
    EXPECT_EQ(driven.flow.RateBps(), 100e9, "the way has changed: stored only");
    driven.Ack(0, {Hop(900'078'000, 12480, 78000)}, 8); // u = 2 of the new path
    driven.Is(47.54e9, "compared with its own");
}

} // namespace

} // namespace ns3::env::rdma
