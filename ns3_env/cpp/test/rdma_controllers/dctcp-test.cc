// SPDX-License-Identifier: GPL-2.0-or-later
// Test of DCTCP's controller: hand-made feedback against hand-computed answers.
#include "ns3/boolean.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/dctcp.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-dctcp");

constexpr double GBPS = 1e9;

/// alpha and the cuts of DCTCP over three windows.
TEST("dctcp: alpha is the average fraction of marks, and cuts once per window")
{
    const auto ack = [](Dctcp& controller, FakeFlow& flow, uint64_t acked, bool marked)
    {
        flow.Acked(acked);
        controller.OnAck(flow, {.ackedBytes = acked, .newlyAckedBytes = 1000, .ecnMarked = marked});
    };

    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    auto controller = CreateObject<Dctcp>();
    controller->OnFlowStart(flow);
    ASSERT_EQ(flow.WindowBytes(), 78000, "a BDP at line rate");
    flow.Sent(78000);
    ack(*controller, flow, 1000, false); // the first window: 79 packets, ends at byte 78000
    ASSERT_EQ(flow.RateBps(), 100 * GBPS, "no faster than the line");
    for (uint64_t packet = 2; packet <= 78; ++packet)
    {
        ack(*controller, flow, packet * 1000, packet <= 41); // 40 marks
    }
    ASSERT_EQ(flow.RateBps(), 50 * GBPS, "one cut by alpha / 2 = 1 / 2");
    ASSERT_EQ(flow.WindowBytes(), 39000, "half a BDP");
    ASSERT_EQ(controller->Alpha(), 1.0, "the window is not over");

    flow.Sent(120'000);
    ack(*controller, flow, 79'000, false); // the second window: 42 packets, ends at byte 120000
    const double second = 15.0 / 16 + 40.0 / 79 / 16;
    ASSERT_NEAR(controller->Alpha(), second, 1e-15, "40 marks in 79 packets");
    ASSERT_NEAR(flow.RateBps(), 50.615 * GBPS, 1.0, "+ 615 Mb/s");
    for (uint64_t packet = 80; packet <= 120; ++packet)
    {
        ack(*controller, flow, packet * 1000, packet > 110); // 10 marks
    }
    const double cut = 50.615 * GBPS * (1 - second / 2);
    ASSERT_NEAR(flow.RateBps(), cut, 1.0, "cut by the new alpha");

    flow.Sent(150'000);
    ack(*controller, flow, 121'000, false);
    const double third = second * 15 / 16 + 10.0 / 42 / 16;
    ASSERT_NEAR(controller->Alpha(), third, 1e-15, "10 marks in 42 packets");
}

/// Alizadeh 2010, sec. 3: a window grows by one packet per round trip.
TEST("dctcp: PacketIncrease adds one payload per base RTT")
{
    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    auto controller = CreateObject<Dctcp>();
    controller->SetAttribute("PacketIncrease", BooleanValue(true));
    controller->OnFlowStart(flow);
    flow.SetRate(10 * GBPS);
    flow.Sent(1000);
    flow.Acked(1000);
    controller->OnAck(flow, {.ackedBytes = 1000, .newlyAckedBytes = 1000});
    ASSERT_NEAR(flow.RateBps(), 10 * GBPS + 8000 / 6240e-9, 1.0, "1000 B in 6.24 us");
}

} // namespace

} // namespace ns3::env::rdma::test
