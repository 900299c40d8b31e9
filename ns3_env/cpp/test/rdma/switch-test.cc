// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a switch's mechanisms: buffer, ECN, ECMP, flow counters, queue statistics.
#include "test-network.h"

#include "ns3_env/cpp/engine/queue-stats.h"
#include "ns3_env/cpp/rdma/switch/ecn-marker.h"
#include "ns3_env/cpp/rdma/switch/shared-buffer.h"
#include "ns3_env/cpp/rdma/telemetry/remaining-bytes.h"
#include "ns3_env/cpp/routing/ecmp.h"

#include <array>
#include <random>
#include <tuple>

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
    const auto write = [&](uint8_t hop, double ns)
    {
        packet.intHops = hop;
        RemainingBytes::Write(packet, ns);
    };
    write(1, 40.0);
    write(2, 90.0);
    EXPECT_EQ(packet.shorterBacklogNs, 90, "the longer");
    write(3, 1e15);
    write(4, 60.0);
    EXPECT_EQ(packet.shorterBacklogNs, UINT32_MAX, "cut at what the field holds");
    write(1, 7.0);
    EXPECT_EQ(packet.shorterBacklogNs, 7, "a recycled packet begins anew");
}

/// A buffer of 100 kB, and the headroom and the threshold's shift of its ports.
SharedBuffer
BufferOf(const std::vector<std::pair<uint64_t, uint32_t>>& ports)
{
    SharedBufferConfig config;
    config.bufferBytes = 100'000;
    SharedBuffer buffer(config);
    for (const auto& [headroom, shift] : ports)
    {
        buffer.AddPort(headroom, shift);
    }
    return buffer;
}

/// A link too short for a packet in its headroom, next to some that use nearly all of the pool.
TEST("a free reserve takes no packet where headroom and threshold are exceeded")
{
    // the others may use as much as they leave free
    SharedBuffer buffer = BufferOf({{936, 3}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}});
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
    std::mt19937_64 random(3);
    uint64_t passed = 0;
    for (PoolSharing sharing : {PoolSharing::Thresholds, PoolSharing::Complete})
    {
        SharedBufferConfig config;
        config.bufferBytes = 60'000;
        config.sharing = sharing;
        SharedBuffer buffer(config);
        for (uint32_t port = 0; port < 4; ++port)
        {
            buffer.AddPort(sharing == PoolSharing::Thresholds ? 900 * port : 0, port);
        }
        std::vector<std::pair<uint32_t, uint32_t>> held;
        for (int step = 0; step < 20'000; ++step)
        {
            const auto port = static_cast<uint32_t>(random() % 4);
            const auto bytes = static_cast<uint32_t>(60 + random() % 1500);
            if (buffer.LetsPass(port, bytes))
            {
                ++passed;
                const auto state = [&]
                { return Row(buffer.UsedBytes(), buffer.FreeBytes(), buffer.SharedBytes(port)); };
                const auto before = state();
                ASSERT(buffer.Admits(port, bytes), "admitted at step " << step);
                buffer.Add(port, bytes);
                ASSERT(!buffer.TakePause(port), "no pause at step " << step);
                ASSERT_EQ(buffer.HeadroomUsed(port), 0, "headroom at step " << step);
                buffer.Remove(port, bytes);
                ASSERT(!buffer.TakeResume(port), "nothing to resume at step " << step);
                ASSERT_EQ(state(), before, "as before at step " << step);
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
    SharedBuffer buffer = BufferOf({{10'000, 3}, {10'000, 3}});
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
    for (; !buffer.TakePause(0); ++inPool)
    {
        buffer.Add(0, 1000);
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
    const EcnConfig usual{true, 100e3, 400e3, 0.2, 25e9};
    const EcnConfig shallow{true, 100e3, 400e3, 0.2, 25e9, 800e3}; // Kmax is 800 kB at most
    const EcnConfig step{true, 3e3, 3e3, 1.0, 1e9};
    for (const auto& [config, rateBps, queueBytes, probability] :
         {std::tuple{usual, 100e9, 400'000, 0.0}, // at Kmin
          {usual, 100e9, 1'000'000, 0.1},         // half way
          {usual, 100e9, 1'600'000, 0.2},         // at Kmax
          {usual, 100e9, 1'600'001, 1.0},         // above it
          {shallow, 100e9, 200'000, 0.0},         // at half of Kmin
          {shallow, 100e9, 500'000, 0.1},
          {shallow, 100e9, 800'001, 1.0},
          {shallow, 25e9, 100'000, 0.0}, // a slower port is as it was
          {shallow, 25e9, 250'000, 0.1},
          {step, 1e9, 3000, 0.0},
          {step, 1e9, 3001, 1.0}})
    {
        EcnMarker marker(config, rateBps, draw);
        ASSERT_NEAR(marker.Probability(static_cast<uint64_t>(queueBytes)),
                    probability,
                    1e-12,
                    queueBytes << " B at " << rateBps);
    }
    Packet packet{};
    packet.kind = PacketKind::Data;
    packet.ecnCapable = true;
    EcnMarker marker(usual, 100e9, draw);
    int marks = 0;
    for (int i = 0; i < 100'000; ++i)
    {
        marks += marker.Marks(packet, 1'000'000) ? 1 : 0;
    }
    ASSERT_NEAR(marks / 1e5, 0.1, 0.005, "frequency of marks"); // 5 sigma
    packet.ecnCapable = false;
    ASSERT_EQ(marker.Marks(packet, UINT32_MAX), false, "not ECN-capable");
    packet.ecnCapable = true;
    ASSERT_EQ(EcnMarker({}, 1e9, draw).Marks(packet, UINT32_MAX), false, "off");
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
    // p50: a bin's upper edge, at most the maximum
    ASSERT_EQ(
        Row(stats.Max(), stats.Percentile(0.04), stats.Percentile(0.1), stats.Percentile(0.5)),
        Row(100, 0, 40, 100),
        "maximum, p4, p10, p50");
}

/// Both ways of counting flows at the bottleneck of an incast.
TEST("flows are counted by first and last packet, or by timeout")
{
    for (const bool byTimeout : {false, true})
    {
        Scenario s = Dumbbell(3, 100e9);
        if (byTimeout)
        {
            s.flowTimeout = 20 * US;
        }
        // Two of about 3 * 8.3 us at a third of the link; the last takes 80 us more.
        AddFlows(s, {{0, 3, 100'000}, {1, 3, 100'000}, {2, 3, 1'000'000, 5 * US}});
        TestNetwork net(std::move(s));
        SwitchPort& port = net.PortTo(4, 5);
        std::vector<uint32_t> seen;
        for (const Picos at : {4 * US, 10 * US, 60 * US})
        {
            At(at, [&] { seen.push_back(port.FlowCount(NowPicos())); });
        }
        net->Run();
        ASSERT_EQ(Row(seen[0], seen[1], seen[2]), Row(2, 3, 1), "two, the third too, one");
        ASSERT_EQ(port.FlowCount(NowPicos()), byTimeout ? 1U : 0U, "at the end");
    }
}

} // namespace

} // namespace ns3::env::rdma::test
