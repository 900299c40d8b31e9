// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of Swift's controller: hand-made feedback, and an incast of small windows.
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/swift.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <cmath>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-swift");

constexpr double GBPS = 1e9;

/// Kumar 2020, sec. 3.5, for two switches.
TEST("swift: the target grows with hops and with small windows")
{
    const PathFacts facts = DumbbellFacts(1056);
    auto controller = CreateObject<Swift>();
    ASSERT_EQ(controller->TargetDelay(facts, 100), 26'100 * NS, "20 us + 2 * 3.05 us");
    ASSERT_EQ(controller->TargetDelay(facts, 5000), 26'100 * NS, "no less than that");
    ASSERT_EQ(controller->TargetDelay(facts, 0.1), 126'100 * NS, "fs_range on top");
    ASSERT_EQ(controller->TargetDelay(facts, 0.01), 126'100 * NS, "no more than that");
    // (1 / sqrt(1) - 1 / sqrt(100)) / (1 / sqrt(0.1) - 1 / sqrt(100)) = 0.9 / 3.0622777
    const double one = 26'100 + 100e3 * 0.9 / (std::sqrt(10.0) - 0.1);
    ASSERT_NEAR(controller->TargetDelay(facts, 1) / 1e3, one, 1e-3, "one packet");
    PathFacts far = facts;
    far.baseRtt = 30 * US;
    ASSERT_EQ(controller->TargetDelay(far, 100), 36'100 * NS, "never below the base RTT");
}

/// Kumar 2020, Algorithm 1, line by line.
TEST("swift: adds below the target, cuts above it once per round trip")
{
    PathFacts facts = DumbbellFacts(1056);
    FakeFlow flow{facts};
    Ptr<Swift> controller = CreateObject<Swift>();
    const auto ack = [&](Picos now, Picos rtt, uint32_t bytes = 1000)
    { controller->OnAck(flow, {.now = now, .rtt = rtt, .newlyAckedBytes = bytes}); };

    controller->OnFlowStart(flow);
    ASSERT_EQ(controller->WindowPackets(), 78, "a BDP");
    ack(10 * US, 10 * US);
    double window = 78 + 1.0 / 78;
    ASSERT_NEAR(controller->WindowPackets(), window, 1e-12, "ai / cwnd per packet");
    ack(11 * US, 10 * US, 0);
    ASSERT_NEAR(controller->WindowPackets(), window, 1e-12, "a duplicate adds none");

    const double target = static_cast<double>(controller->TargetDelay(facts, window)) / US;
    ack(60 * US, 40 * US);
    window *= 1 - 0.8 * (40 - target) / 40;
    ASSERT_NEAR(controller->WindowPackets(), window, 1e-9, "cut by the excess");
    ack(99 * US, 40 * US);
    ASSERT_NEAR(controller->WindowPackets(), window, 1e-9, "an RTT is not over");
    ack(2200 * US, 2000 * US);
    ASSERT_NEAR(controller->WindowPackets(), window / 2, 1e-9, "at most half");
    ASSERT_NEAR(flow.WindowBytes(), window * 500, 1e-6, "in payload");
    ASSERT_EQ(flow.RateBps(), 100 * GBPS, "the window alone");
    window /= 2;

    ack(2300 * US, 10 * US);
    window += 1 / window;
    controller->OnNack(flow, 2400 * US);
    ASSERT_NEAR(controller->WindowPackets(), window / 2, 1e-9, "fast recovery");
    controller->OnNack(flow, 2401 * US);
    ASSERT_NEAR(controller->WindowPackets(), window / 2, 1e-9, "once per RTT");
    controller->OnTimeout(flow, 3000 * US);
    ASSERT_NEAR(controller->WindowPackets(), window / 4, 1e-9, "timeout");
    for (int i = 2; i <= 4; ++i)
    {
        controller->OnTimeout(flow, 3000 * US + i * NS);
    }
    ASSERT_NEAR(controller->WindowPackets(), window / 4, 1e-9, "four in a row");
    controller->OnTimeout(flow, 3001 * US);
    ASSERT_EQ(controller->WindowPackets(), 0.01, "the fifth: the least window");
    // Last RTT 10 us: one packet per 10 us / 0.01 is L * 0.01 * 6.24 / 10 for the queue pair, but
    // no less than the floor.
    ASSERT_EQ(flow.WindowBytes(), controller->GetWindowFloor(flow), "floor");
    ack(4000 * US, 12'480 * NS, 490);
    ASSERT_NEAR(controller->WindowPackets(), 0.5, 1e-9, "ai per packet below one");
    ASSERT_NEAR(flow.WindowBytes(), 0.25 * 1056, 1e-6, "rtt / cwnd apart");
    for (int i = 0; i < 60'000; ++i)
    {
        ack(5000 * US, 10 * US);
    }
    // 100 Gb/s * 26.1 us in packets of 1056 B on the wire
    ASSERT_NEAR(controller->WindowPackets(), 326'250.0 / 1056, 1e-6, "the largest");
}

/// Thirty-two flows on a path that eight packets fill up to the target: no loss, and a queue at the target.
} // namespace

} // namespace ns3::env::rdma::test
