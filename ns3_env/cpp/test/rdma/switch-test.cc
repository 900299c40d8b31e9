// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a switch's mechanisms: buffer, ECN, ECMP, flow counters, queue statistics.
#include "test-network.h"

#include "ns3_env/cpp/engine/queue-stats.h"
#include "ns3_env/cpp/rdma/switch/ecn-marker.h"
#include "ns3_env/cpp/rdma/switch/shared-buffer.h"
#include "ns3_env/cpp/rdma/telemetry/remaining-bytes.h"
#include "ns3_env/cpp/routing/ecmp.h"
#include "ns3_env/cpp/test/suite.h"

#include <array>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-switch");

TEST("a port tells each flow what shorter ones have left, until they end or are silent")
{
    constexpr Picos SILENCE = 100;
    RemainingBytes table(SILENCE);
    EXPECT_EQ(table.Tell(1, 500, 0), 0, "it is alone");
    EXPECT_EQ(table.Tell(2, 300, 10), 0, "the other has more");
    EXPECT_EQ(table.Tell(1, 400, 20), 300, "the other has less");
    EXPECT_EQ(table.Tell(3, 400, 30), 700, "of two with as much the smaller number goes first");
    EXPECT_EQ(table.Tell(1, 400, 40), 300, "and the larger one does not");
    table.Forget(2);
    EXPECT_EQ(table.Tell(3, 399, 50), 0, "one has ended, and the other has more");
    EXPECT_EQ(table.Tell(1, 400, 150), 399, "told in time");
    EXPECT_EQ(table.Tell(1, 400, 151), 0, "silent for too long");
}

TEST("of the hops of a path the longest backlog stays in a packet")
{
    Packet packet{};
    for (const auto& [hop, ns] :
         std::vector<std::pair<int, double>>{{1, 40.0}, {2, 90.0}, {3, 1e15}, {4, 60.0}})
    {
        packet.intHops = static_cast<uint8_t>(hop);
        RemainingBytes::Write(packet, ns);
    }
    EXPECT_EQ(packet.shorterBacklogNs, UINT32_MAX, "cut at what the field holds");
    packet.intHops = 1;
    RemainingBytes::Write(packet, 7.0);
    EXPECT_EQ(packet.shorterBacklogNs, 7, "a recycled packet begins anew");
}

/// A link too short for a packet in its headroom, next to some that use nearly all of the pool.
TEST("a free reserve takes no packet where headroom and threshold are exceeded")
{
    SharedBufferConfig config;
    config.bufferBytes = 100'000;
    SharedBuffer buffer(config);
    buffer.AddPort(936, 3);
    for (uint32_t fast = 1; fast <= 6; ++fast)
    {
        buffer.AddPort(0, 0); // it may use as much as it leaves free
    }
    for (uint32_t fast = 1; fast <= 6; ++fast)
    {
        while (buffer.Admits(fast, 1000))
        {
            buffer.Add(fast, 1000);
        }
    }
    ASSERT_LT(buffer.Threshold(0), 1000, "the pool is nearly taken");
    ASSERT_EQ(buffer.Admits(0, 1000), false, "neither headroom nor threshold");
    ASSERT(buffer.Admits(0, 900), "headroom");
}

/// At random fills of both kinds of pool: a packet that passes would have been admitted, without a pause or resume.
TEST("a packet that need not be counted leaves the buffer as it was")
{
    constexpr uint32_t PORTS = 4;
    std::mt19937_64 random(3);
    uint64_t passed = 0;
    for (PoolSharing sharing : {PoolSharing::Thresholds, PoolSharing::Complete})
    {
        SharedBufferConfig config;
        config.bufferBytes = 60'000;
        config.sharing = sharing;
        SharedBuffer buffer(config);
        for (uint32_t port = 0; port < PORTS; ++port)
        {
            buffer.AddPort(sharing == PoolSharing::Thresholds ? 900 * port : 0, port);
        }
        std::vector<std::pair<uint32_t, uint32_t>> held;
        for (int step = 0; step < 20'000; ++step)
        {
            const auto port = static_cast<uint32_t>(random() % PORTS);
            const auto bytes = static_cast<uint32_t>(60 + random() % 1500);
            if (buffer.LetsPass(port, bytes))
            {
                ++passed;
                const auto state = [&]
                {
                    return std::tuple{buffer.UsedBytes(),
                                      buffer.FreeBytes(),
                                      buffer.SharedBytes(port)};
                };
                const auto before = state();
                ASSERT(buffer.Admits(port, bytes), "admitted at step " << step);
                buffer.Add(port, bytes);
                ASSERT(!buffer.TakePause(port), "no pause at step " << step);
                ASSERT_EQ(buffer.HeadroomUsed(port), 0, "headroom at step " << step);
                buffer.Remove(port, bytes);
                ASSERT(!buffer.TakeResume(port), "nothing to resume at step " << step);
                ASSERT(state() == before, "as before at step " << step);
            }
            if (!held.empty() && random() % 100 < (step / 500 % 2 == 0 ? 40U : 60U))
            {
                std::swap(held[random() % held.size()], held.back());
                buffer.Remove(held.back().first, held.back().second);
                buffer.TakeResume(held.back().first);
                held.pop_back();
            }
            else if (buffer.Admits(port, bytes))
            {
                buffer.Add(port, bytes);
                buffer.TakePause(port);
                held.emplace_back(port, bytes);
            }
        }
    }
    ASSERT_GT(passed, 2000, "it happens");
}

/// Reserve, pool, headroom, pause, resume and drop, in that order, on hand-computed numbers.
TEST("a port's bytes go to reserve, pool, headroom")
{
    SharedBufferConfig config;
    config.bufferBytes = 100'000;
    SharedBuffer buffer(config);
    buffer.AddPort(10'000, 3);
    buffer.AddPort(10'000, 3);
    ASSERT_EQ(buffer.CommittedBytes(), 2 * (10'000 + 4096), "commitment");
    ASSERT_EQ(buffer.Threshold(0), (100'000 - 28'192) / 8, "empty threshold");
    for (int i = 0; i < 4; ++i)
    {
        buffer.Add(0, 1000);
    }
    ASSERT_EQ(buffer.SharedBytes(0), 0, "the reserve comes first");
    buffer.Add(0, 1000);
    ASSERT_EQ(buffer.SharedBytes(0), 904, "then the pool");
    int inPool = 5;
    while (!buffer.TakePause(0))
    {
        buffer.Add(0, 1000);
        ++inPool;
    }
    // shared = n - 4096 first reaches (71808 - shared) >> 3 with headroom use at n = 13 packets:
    // 12 packets leave 7904 shared under the threshold of 7988, the 13th exceeds it.
    ASSERT_EQ(inPool, 13, "packets until a pause");
    ASSERT_EQ(buffer.HeadroomUsed(0), 1000, "the last one sits in the headroom");
    ASSERT_EQ(buffer.TakePause(1), false, "the other port is not paused");
    for (int i = 0; i < 9; ++i)
    {
        ASSERT(buffer.Admits(0, 1000), "headroom left");
        buffer.Add(0, 1000);
    }
    ASSERT_EQ(buffer.Admits(0, 1000), false, "headroom and threshold exceeded");
    while (!buffer.TakeResume(0))
    {
        buffer.Remove(0, 1000);
    }
    ASSERT_EQ(buffer.HeadroomUsed(0), 0, "the headroom empties first");
    ASSERT_LE(buffer.SharedBytes(0) + 3072, buffer.Threshold(0), "resume");
    while (buffer.UsedBytes() > 0)
    {
        buffer.Remove(0, 1000);
    }
    ASSERT_EQ(buffer.Threshold(0), (100'000 - 28'192) / 8, "all given back");
}

/// Marking probability between the thresholds, and their scaling with the link rate.
TEST("ECN marks by the line between Kmin and Kmax")
{
    OneStream draw;
    Packet packet{};
    packet.kind = PacketKind::Data;
    packet.ecnCapable = true;
    EcnMarker marker({true, 100e3, 400e3, 0.2, 25e9}, 100e9, draw);
    ASSERT_EQ(marker.Probability(400'000), 0.0, "at Kmin");
    ASSERT_NEAR(marker.Probability(1'000'000), 0.1, 1e-12, "half way");
    ASSERT_NEAR(marker.Probability(1'600'000), 0.2, 1e-12, "at Kmax");
    ASSERT_EQ(marker.Probability(1'600'001), 1.0, "above Kmax");
    int marks = 0;
    for (int i = 0; i < 100'000; ++i)
    {
        marks += marker.Marks(packet, 1'000'000) ? 1 : 0;
    }
    ASSERT_NEAR(marks / 1e5, 0.1, 0.005, "frequency of marks"); // 5 sigma
    packet.ecnCapable = false;
    ASSERT_EQ(marker.Marks(packet, UINT32_MAX), false, "not ECN-capable");
    const EcnConfig shallow{true, 100e3, 400e3, 0.2, 25e9, 800e3};
    EcnMarker halved(shallow, 100e9, draw);
    ASSERT_EQ(halved.Probability(200'000), 0.0, "at half of Kmin");
    ASSERT_NEAR(halved.Probability(500'000), 0.1, 1e-12, "half way");
    ASSERT_EQ(halved.Probability(800'001), 1.0, "above what Kmax is at most");
    EcnMarker slower(shallow, 25e9, draw);
    ASSERT_EQ(slower.Probability(100'000), 0.0, "a slower port is as it was");
    ASSERT_NEAR(slower.Probability(250'000), 0.1, 1e-12, "half way there");
    EcnMarker step({true, 3e3, 3e3, 1.0, 1e9}, 1e9, draw);
    ASSERT_EQ(step.Probability(3000), 0.0, "one threshold: at it");
    ASSERT_EQ(step.Probability(3001), 1.0, "one threshold: above it");
    EcnMarker off({}, 1e9, draw);
    ASSERT_EQ(off.Marks(packet, UINT32_MAX), false, "off");
}

/// Published MurmurHash3 values, addresses, and an even spread over next hops.
TEST("ECMP hashes as MurmurHash3 and spreads evenly")
{
    ASSERT_EQ(NodeAddress(0), 0x0b000001U, "11.0.0.1");
    ASSERT_EQ(NodeAddress(258), 0x0b010201U, "11.1.2.1");
    // Values of the package mmh3 for host 0 -> host 4, source port 10000.
    const FiveTuple known{NodeAddress(0), NodeAddress(4), 10000, 100};
    ASSERT_EQ(EcmpHash(known, 16), 0xf82090d5U, "at node 16");
    ASSERT_EQ(EcmpHash(known, 20), 0x910e7922U, "at node 20");
    std::array<int, 4> hits{};
    for (uint16_t port = 0; port < 8000; ++port)
    {
        const FiveTuple tuple{NodeAddress(1), NodeAddress(2), port, 100};
        ++hits[EcmpHash(tuple, 20) % hits.size()];
    }
    for (int n : hits)
    {
        ASSERT_NEAR(n, 2000.0, 200.0, "flows per next hop"); // 5 sigma
    }
}

/// Time-weighted mean, percentiles and maximum of a hand-made queue.
TEST("queue statistics weigh by time")
{
    QueueStats stats(1000);
    stats.Update(500, 1000); // for no time: does not count
    stats.Update(100, 1000);
    stats.Update(40, 1900); // 100 B for 900
    stats.Update(0, 1950);  // 40 B for 50
    stats.Finish(2000);     // 0 B for 50
    ASSERT_NEAR(stats.Mean(), (100 * 900 + 40 * 50) / 1000.0, 1e-9, "mean");
    ASSERT_EQ(stats.Max(), 100, "maximum");
    ASSERT_EQ(stats.Percentile(0.04), 0, "p4");
    ASSERT_EQ(stats.Percentile(0.10), 40, "p10");
    ASSERT_EQ(stats.Percentile(0.5), 100, "p50: a bin's upper edge, at most the maximum");
}

/// Both ways of counting flows at the bottleneck of an incast.
void
FlowCounter(bool byTimeout)
{
    const Case about(byTimeout ? "flows counted by timeout"
                               : "flows counted by first and last packet");
    constexpr Picos US = 1000 * PS_PER_NS;
    Scenario s = Dumbbell(3, 100e9);
    if (byTimeout)
    {
        s.flowTimeout = 20 * US;
    }
    AddFlow(s, 0, 3, 100'000); // about 3 * 8.3 us at a third of the link
    AddFlow(s, 1, 3, 100'000);
    AddFlow(s, 2, 3, 1'000'000, 5 * US); // 80 us more
    TestNetwork net(std::move(s));
    SwitchPort& port = net.PortTo(4, 5);
    std::array<uint32_t, 4> seen{};
    const std::array<Picos, 4> at{4 * US, 10 * US, 40 * US, 60 * US};
    for (size_t i = 0; i < at.size(); ++i)
    {
        Simulator::Schedule(Time(at[i]), [&, i]() { seen[i] = port.FlowCount(NowPicos()); });
    }
    net->Run();
    ASSERT_EQ(seen[0], 2, "two have started");
    ASSERT_EQ(seen[1], 3, "the third too");
    ASSERT_EQ(seen[3], 1, "two are gone");
    ASSERT_EQ(port.FlowCount(NowPicos()), byTimeout ? 1U : 0U, "at the end");
}

TEST("flows are counted by first and last packet, or by timeout")
{
    FlowCounter(false);
    FlowCounter(true);
}

} // namespace

} // namespace ns3::env::rdma::test
