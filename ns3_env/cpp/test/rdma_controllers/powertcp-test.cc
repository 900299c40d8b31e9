// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of PowerTCP with telemetry and by delay: power, window, and the queue at rest (Addanki 2022).
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/power-control.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

namespace ns3::env::rdma
{

namespace
{

SUITE("rdma-powertcp");

using test::AddIncast;
using test::Dumbbell;
using test::TestNetwork;

constexpr double BDP = 78000;
constexpr Picos RTT = 6'240'000;

Ptr<PowerControl>
Make(const std::string& name)
{
    return DynamicCast<PowerControl>(ObjectFactory("rdma::" + name).Create<CongestionControl>());
}

void
Ack(CongestionControl& control, FakeFlow& flow, const std::vector<IntRecord>& hops)
{
    control.OnAck(flow, {.hops = hops});
}

IntRecord
Hop(uint64_t txBytes, int64_t timeNs, uint32_t queueBytes, uint64_t rateBps = 100'000'000'000)
{
    return {.txBytes = txBytes,
            .timeNs = timeNs,
            .rateBps = rateBps,
            .queueBytes = queueBytes,
            .flows = 1};
}

TEST("power is current times voltage of the hop where that is most; window by eq. 7")
{
    const PathFacts facts = DumbbellFacts(1090);
    FakeFlow flow(facts);
    auto control = Make("powertcp");
    EXPECT_EQ(control->GetIntRequest().wireBytes, 42, "HPCC's header");
    control->OnFlowStart(flow);
    EXPECT_EQ(flow.WindowBytes(), BDP, "HostBw tau");
    flow.Sent(20000);
    flow.Acked(1000);
    Ack(*control, flow, {Hop(0, 1000, 39000), Hop(0, 1100, 0, 400'000'000'000)});
    EXPECT_EQ(flow.WindowBytes(), BDP, "stored only");

    // 870 ns later: full rate (10875 B), and 870 B more in a queue that was half a BDP long
    flow.Acked(2000);
    Ack(*control, flow, {Hop(10875, 1870, 39870), Hop(4350, 1970, 0, 400'000'000'000)});
    const double power = (1 + 870.0 / 10875) * (1 + 39870 / BDP); // eq. 6 over b^2 tau
    const double smooth = (1.0 * (6240 - 870) + power * 870) / 6240;
    EXPECT_NEAR(control->Power(), smooth, 1e-12, "Gamma_smooth");
    double window = 0.9 * (BDP / smooth + BDP / 100) + 0.1 * BDP;
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "eq. 7");
    EXPECT_NEAR(flow.RateBps(), 100e9 * window / BDP, 1.0, "w / tau");

    // Until byte 20000 is acknowledged the old window is the one of then; this hop's power is 1.
    flow.Acked(3000);
    Ack(*control, flow, {Hop(21750, 2740, 0), Hop(52200, 2840, 0, 400'000'000'000)});
    const double second = (smooth * (6240 - 870) + 1.1 * 870) / 6240; // 47850 of 43500 B
    EXPECT_NEAR(control->Power(), second, 1e-12, "the other hop: an emptying queue has less");
    window = 0.9 * (window / second + BDP / 100) + 0.1 * window;
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "cwnd_old: remembered once per round trip");
}

TEST("the window stays between a packet and a BDP; records of two ways are not compared")
{
    const PathFacts facts = DumbbellFacts(1090);
    FakeFlow flow(facts);
    auto control = Make("powertcp");
    control->OnFlowStart(flow);
    Ack(*control, flow, {Hop(0, 0, 0)});
    for (uint64_t i = 1; i <= 5; ++i)
    {
        const auto time = static_cast<int64_t>(6240 * i);
        Ack(*control, flow, {Hop(78000 * i, time, 1'000'000'000)});
    }
    EXPECT_EQ(flow.WindowBytes(), 1000, "a packet");
    EXPECT_NEAR(flow.RateBps(), 100e9 / 78, 1.0, "and its rate");
    Ack(*control, flow, {Hop(390'001, 37440, 0)}); // a tau later nothing is left of that queue
    Ack(*control, flow, {Hop(390'002, 43680, 0)});
    EXPECT_EQ(flow.WindowBytes(), BDP, "a nearly idle path");
    const std::vector<IntRecord> other{Hop(900'000'000, 49920, 0)};
    control->OnAck(flow, {.way = 8, .hops = other});
    EXPECT_EQ(flow.WindowBytes(), BDP, "another way: stored only");
}

TEST("by delay power is RTT times its gradient and one, at least 1, and counts once per round trip")
{
    const PathFacts facts = DumbbellFacts(1056);
    FakeFlow flow(facts);
    auto control = Make("theta-powertcp");
    EXPECT_EQ(control->GetIntRequest().wireBytes, 8, "a timestamp");
    control->OnFlowStart(flow);
    flow.Sent(20000);
    flow.Acked(1000);
    control->OnAck(flow, {.now = 2 * RTT, .rtt = 2 * RTT});
    const double first = (1 + 0.5) * 2; // an RTT more within two RTTs
    EXPECT_NEAR(control->Power(), first, 1e-12, "eq. 8");
    const double window = 0.9 * (BDP / first + BDP / 100) + 0.1 * BDP;
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "eq. 7");
    flow.Acked(2000);
    control->OnAck(flow, {.now = 2 * RTT + RTT / 2, .rtt = 2 * RTT});
    EXPECT_NEAR(control->Power(), (first + 2) / 2, 1e-12, "smoothed: half a tau");
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "not before byte 20000");
    flow.Acked(20001);
    control->OnAck(flow, {.now = 4 * RTT, .rtt = RTT / 2});
    EXPECT_EQ(control->Power(), 1.0, "an emptying queue is no idle link");
    EXPECT_NEAR(flow.WindowBytes(), 0.9 * (window + BDP / 100) + 0.1 * window, 1e-6, "adds beta");

    auto printed = Make("theta-powertcp");
    printed->SetAttribute("MultiplicativeIncrease", BooleanValue(true));
    FakeFlow opened(facts);
    printed->OnFlowStart(opened);
    opened.Acked(1);
    printed->OnAck(opened, {.now = RTT, .rtt = RTT / 2});
    EXPECT_NEAR(printed->Power(), (1 - 0.5) * 0.5, 1e-12, "Algorithm 2 as printed");
}

/// Mean bottleneck queue of eight flows under `controller`, N = 10.
double
QueueAtRest(const std::string& controller)
{
    constexpr uint32_t SENDERS = 8;
    Scenario scenario = Dumbbell(SENDERS, 100e9);
    scenario.published = false;
    scenario.controllers[0].name = controller;
    scenario.controllers[0].attributes = {{"ExpectedFlows", "10"}};
    AddIncast(scenario, SENDERS, 10'000'000);
    TestNetwork net(std::move(scenario));
    SwitchPort& bottleneck = net.PortTo(SENDERS + 1, SENDERS + 2);
    double sum = 0;
    constexpr int SAMPLES = 100;
    for (int i = 0; i < SAMPLES; ++i)
    {
        Simulator::Schedule(MicroSeconds(3000 + 10 * i),
                            [&]() { sum += static_cast<double>(bottleneck.QueueBytes()); });
    }
    net->Run();
    return sum / SAMPLES;
}

TEST("at rest the queue is the sum of the additive increases (Addanki 2022, app. A)")
{
    // q = beta_1 + ... + beta_n; windows count payload, queues the wire's bytes
    EXPECT_NEAR(QueueAtRest("powertcp"), 0.8 * BDP * 1.09, 0.05 * BDP, "eight tenths of a BDP");
    EXPECT_NEAR(QueueAtRest("theta-powertcp"), 0.8 * BDP * 1.056, 0.05 * BDP, "by delay, too");
}

} // namespace

} // namespace ns3::env::rdma
