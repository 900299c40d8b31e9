// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of window, pacing rate, windows below one packet, and reports of their changes.
#include "test-network.h"

#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/contract/pacing.h"

#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-pacing");

/// Packets of 1048 B on the wire and 1000 B of payload; 100 Gb/s, base RTT 6240 ns.
TEST("window and clock both have to let a packet go")
{
    PathFacts facts = DumbbellFacts(1048);
    facts.rounding = Rounding::Exact;
    Pacing pacing;
    pacing.SetPath(facts, 100e9);
    pacing.HoldUntil(10 * NS);
    EXPECT_EQ(pacing.ReadyAt(0), 10 * NS, "at the start");
    pacing.OnSent(1048, 10 * NS);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 83'840, "1048 B at 100 Gb/s later");
    pacing.SetRateAndRepace(50e9);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 167'680, "moved by the difference");
    EXPECT(pacing.TakeRepaced(), "the waiting packet was moved");
    EXPECT_EQ(pacing.TakeRepaced(), false, "reported once");
    pacing.SetRate(100e9);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 167'680, "from the next packet on");
    pacing.SetWindow(1000);
    EXPECT_EQ(pacing.ReadyAt(1000), NEVER, "a packet fills a window of one");
    EXPECT_EQ(pacing.PacedUntil(1000), 10 * NS + 167'680, "for the window alone");
    pacing.SetWindow(1001);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 167'680, "overshoots by a packet");
}

TEST("a window below one packet is one packet in so many base RTTs")
{
    const PathFacts facts = DumbbellFacts(1048);
    Pacing pacing;
    pacing.SetPath(facts, 100e9);
    pacing.SetWindow(262);
    EXPECT_EQ(pacing.ReadyAt(0), 0, "the first packet waits for nothing");
    pacing.OnSent(1048, 0);
    EXPECT_EQ(pacing.ReadyAt(1000), NEVER, "its ACK has to come first");
    EXPECT_EQ(pacing.ReadyAt(0), 4 * 6240 * NS, "four base RTTs for a quarter");
    pacing.SetWindow(WindowOfOnePacketPer(facts, 0.5, 20'000 * NS));
    EXPECT_NEAR(pacing.ReadyAt(0), 40'000 * NS, 1, "rtt / packets");
    EXPECT_NEAR(WindowOfOnePacketPer(facts, 0.5, 1), 524, 1e-9, "no RTT is less");
    EXPECT_LT(WindowOfOnePacketPer(facts, 0.99, 1), 1000, "always below a payload");
}

/// A change of window or rate is reported once, however often they were written.
TEST("a change of window or rate is reported once, one at a timeout included")
{
    Pacing pacing;
    EXPECT(pacing.TakeChange(), "the flow starts");
    EXPECT_EQ(pacing.TakeChange(), false, "nothing since");
    pacing.SetWindow(1000);
    pacing.SetWindow(Pacing::NO_WINDOW);
    EXPECT_EQ(pacing.TakeChange(), false, "it stands where it stood");
    pacing.SetRate(1e9);
    EXPECT(pacing.TakeChange(), "a rate");

    // A link that loses everything: Swift halves its window at each timeout.
    Scenario s = Exact(1, {{0, 1, 100'000}}, "swift");
    s.lossProbability = 1.0;
    s.retransmissionTimeout = 100'000 * NS;
    s.timeLimit = 150'000 * NS;
    TestNetwork net(std::move(s));
    std::vector<double> windows;
    net->Nics()[0]->TraceConnectWithoutContext(
        "WindowAndRate",
        Callback<void, const FlowState&, Picos>([&](const FlowState& flow, Picos)
                                                { windows.push_back(flow.WindowBytes()); }));
    net->Run();
    ASSERT_EQ(windows.size(), 2, "the start and the timeout");
    EXPECT_EQ(windows[1], windows[0] / 2, "max_mdf");
}

} // namespace

} // namespace ns3::env::rdma::test
