// SPDX-License-Identifier: GPL-2.0-or-later
// Test of TIMELY's controller: hand-made feedback against hand-computed answers.
#include "ns3/boolean.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-timely");

constexpr double GBPS = 1e9;
constexpr Picos US = 1000 * PS_PER_NS;

/// A round trip at a time, RTT in microseconds.
TEST("timely: the factor of each region of the RTT")
{
    PathFacts facts = DumbbellFacts(1056);
    FakeFlow flow{facts};
    Ptr<CongestionControl> controller = ObjectFactory("rdma::timely").Create<CongestionControl>();
    const auto window = [&](double rttUs, double expectedGbps, const std::string& why)
    {
        flow.Sent(flow.SentBytes() + 2000);
        flow.Acked(flow.SentBytes() - 1000); // past the end of the last window
        controller->OnAck(flow, {.rtt = static_cast<Picos>(rttUs * US)});
        ASSERT_NEAR(flow.RateBps() / GBPS, expectedGbps, 2e-9, why);
    };

    window(100, 100, "the first window has no gradient");
    // difference 0.875 * 20 us over 20 us: gradient 0.875
    window(120, 100 * 0.3, "1 - 0.8 * 0.875");
    // difference 0.125 * 17.5 us: gradient 0.109375
    window(120, 30 * 0.9125, "1 - 0.8 * 0.109375");
    window(110, 27.475, "a falling RTT: + 100 Mb/s");
    window(1000, 27.475 * 0.6, "above 500 us: 1 - 0.8 (1 - 500 / 1000)");
    for (int i = 1; i <= 5; ++i)
    {
        window(40, 16.485 + 0.1 * i, "below 50 us: + 100 Mb/s");
    }
    window(40, 17.485, "from the sixth increase on: + 500 Mb/s");
    window(490, 1.0, "a steep gradient: the factor is 0, the rate the least");
}

TEST("timely: below 50 us each increase is one step where HyperBelowLow is off (Mittal 2015, "
     "Algorithm 1)")
{
    PathFacts facts = DumbbellFacts(1056);
    FakeFlow flow{facts};
    ObjectFactory factory("rdma::timely");
    factory.Set("HyperBelowLow", BooleanValue(false));
    Ptr<CongestionControl> controller = factory.Create<CongestionControl>();
    const auto window = [&](double rttUs)
    {
        flow.Sent(flow.SentBytes() + 2000);
        flow.Acked(flow.SentBytes() - 1000);
        controller->OnAck(flow, {.rtt = static_cast<Picos>(rttUs * US)});
    };
    for (const double rttUs : {100, 120, 115, 110, 105, 100, 95, 90}) // 30 Gb/s, then six increases
    {
        window(rttUs);
    }
    ASSERT_NEAR(flow.RateBps() / GBPS, 31.0, 2e-9, "five steps of 100 Mb/s and one of 500");
    for (int i = 0; i < 10; ++i)
    {
        window(40);
    }
    ASSERT_NEAR(flow.RateBps() / GBPS, 32.0, 2e-9, "ten steps of 100 Mb/s");
}

TEST("timely: a window follows the rate where RateWindow asks for it")
{
    PathFacts facts = DumbbellFacts(1056);
    FakeFlow flow{facts};
    ObjectFactory factory("rdma::timely");
    factory.Set("RateWindow", BooleanValue(true));
    Ptr<CongestionControl> controller = factory.Create<CongestionControl>();
    controller->OnFlowStart(flow);
    ASSERT_EQ(flow.WindowBytes(), 78000, "a BDP at line rate");
    for (double rttUs : {100.0, 120.0}) // the second leaves 1 - 0.8 * 0.875 of the rate
    {
        flow.Sent(flow.SentBytes() + 2000);
        flow.Acked(flow.SentBytes() - 1000);
        controller->OnAck(flow, {.rtt = static_cast<Picos>(rttUs * US)});
    }
    ASSERT_NEAR(flow.WindowBytes(), 23400, 1.0, "three tenths of it, in whole bytes");
}

} // namespace

} // namespace ns3::env::rdma::test
