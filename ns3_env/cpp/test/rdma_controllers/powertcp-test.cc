// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of PowerTCP with telemetry and by delay: power, window, and the queue at rest (Addanki 2022).
#include "ns3/boolean.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/power-control.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-powertcp");

constexpr double BDP = 78000;
constexpr Picos RTT = 6'240'000;

IntRecord
Hop(uint64_t txBytes, int64_t timeNs, uint32_t queueBytes, uint64_t rateBps = 100'000'000'000)
{
    return {txBytes, timeNs, rateBps, queueBytes, 1};
}

/// A flow whose ACKs a test writes.
struct Driven
{
    Driven(const std::string& name, uint32_t packetBytes, bool multiplicative = false)
        : facts(DumbbellFacts(packetBytes)),
          flow(facts),
          control(
              DynamicCast<PowerControl>(ObjectFactory("rdma::" + name).Create<CongestionControl>()))
    {
        if (multiplicative)
        {
            control->SetAttribute("MultiplicativeIncrease", BooleanValue(true));
        }
        control->OnFlowStart(flow);
    }

    void Ack(uint64_t acked, const AckSample& sample)
    {
        flow.Acked(acked);
        control->OnAck(flow, sample);
    }
    void Hops(uint64_t acked, const std::vector<IntRecord>& hops, uint32_t way = 0)
    {
        Ack(acked, {.way = way, .hops = hops});
    }

    PathFacts facts;
    FakeFlow flow;
    Ptr<PowerControl> control;
};

/// Eq. 7 with the window of a round trip ago.
double
Eq7(double remembered, double power, double window)
{
    return 0.9 * (remembered / power + BDP / 100) + 0.1 * window;
}

TEST("power is current times voltage of the hop where that is most; window by eq. 7")
{
    Driven driven("powertcp", 1090);
    const FakeFlow& flow = driven.flow;
    EXPECT_EQ(driven.control->GetIntRequest().wireBytes, 42, "HPCC's header");
    EXPECT_EQ(flow.WindowBytes(), BDP, "HostBw tau");
    driven.flow.Sent(20000);
    driven.Hops(1000, {Hop(0, 1000, 39000), Hop(0, 1100, 0, 400'000'000'000)});
    EXPECT_EQ(flow.WindowBytes(), BDP, "stored only");

    // 870 ns later: full rate (10875 B), and 870 B more in a queue that was half a BDP long
    driven.Hops(2000, {Hop(10875, 1870, 39870), Hop(4350, 1970, 0, 400'000'000'000)});
    const double power = (1 + 870.0 / 10875) * (1 + 39870 / BDP); // eq. 6 over b^2 tau
    const double smooth = (1.0 * (6240 - 870) + power * 870) / 6240;
    EXPECT_NEAR(driven.control->Power(), smooth, 1e-12, "Gamma_smooth");
    double window = Eq7(BDP, smooth, BDP);
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "eq. 7");
    EXPECT_NEAR(flow.RateBps(), 100e9 * window / BDP, 1.0, "w / tau");

    // Until byte 20000 is acknowledged the old window is the one of then; this hop's power is 1.
    driven.Hops(3000, {Hop(21750, 2740, 0), Hop(52200, 2840, 0, 400'000'000'000)});
    const double second = (smooth * (6240 - 870) + 1.1 * 870) / 6240; // 47850 of 43500 B
    EXPECT_NEAR(driven.control->Power(), second, 1e-12, "an emptying queue has less");
    window = Eq7(window, second, window);
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "cwnd_old: remembered once per round trip");
}

TEST("the window stays between a packet and a BDP; records of two ways are not compared")
{
    Driven driven("powertcp", 1090);
    for (uint64_t i = 0; i <= 5; ++i)
    {
        const auto time = static_cast<int64_t>(6240 * i);
        driven.Hops(0, {Hop(78000 * i, time, i == 0 ? 0 : 1'000'000'000)});
    }
    EXPECT_EQ(driven.flow.WindowBytes(), 1000, "a packet");
    EXPECT_NEAR(driven.flow.RateBps(), 100e9 / 78, 1.0, "and its rate");
    driven.Hops(0, {Hop(390'001, 37440, 0)}); // a tau later nothing is left of that queue
    driven.Hops(0, {Hop(390'002, 43680, 0)});
    EXPECT_EQ(driven.flow.WindowBytes(), BDP, "a nearly idle path");
    driven.Hops(0, {Hop(900'000'000, 49920, 0)}, 8);
    EXPECT_EQ(driven.flow.WindowBytes(), BDP, "another way: stored only");
}

TEST("by delay power is RTT times its gradient and one, at least 1, and counts once per round trip")
{
    Driven driven("theta-powertcp", 1056);
    const FakeFlow& flow = driven.flow;
    EXPECT_EQ(driven.control->GetIntRequest().wireBytes, 8, "a timestamp");
    driven.flow.Sent(20000);
    driven.Ack(1000, {.now = 2 * RTT, .rtt = 2 * RTT});
    const double first = (1 + 0.5) * 2; // an RTT more within two RTTs
    EXPECT_NEAR(driven.control->Power(), first, 1e-12, "eq. 8");
    const double window = Eq7(BDP, first, BDP);
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "eq. 7");
    driven.Ack(2000, {.now = 2 * RTT + RTT / 2, .rtt = 2 * RTT});
    EXPECT_NEAR(driven.control->Power(), (first + 2) / 2, 1e-12, "smoothed: half a tau");
    EXPECT_NEAR(flow.WindowBytes(), window, 1e-6, "not before byte 20000");
    driven.Ack(20001, {.now = 4 * RTT, .rtt = RTT / 2});
    EXPECT_EQ(driven.control->Power(), 1.0, "an emptying queue is no idle link");
    EXPECT_NEAR(flow.WindowBytes(), Eq7(window, 1, window), 1e-6, "adds beta");

    Driven printed("theta-powertcp", 1056, true);
    printed.Ack(1, {.now = RTT, .rtt = RTT / 2});
    EXPECT_NEAR(printed.control->Power(), (1 - 0.5) * 0.5, 1e-12, "Algorithm 2 as printed");
}

} // namespace

} // namespace ns3::env::rdma::test
