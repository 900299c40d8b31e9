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

/// A flow that hears of a round trip at a time.
struct Heard
{
    explicit Heard(const std::string& attribute = "RateWindow", bool value = false)
    {
        controller->SetAttribute(attribute, BooleanValue(value));
        controller->OnFlowStart(flow);
    }

    void Window(double rttUs)
    {
        flow.Sent(flow.SentBytes() + 2000);
        flow.Acked(flow.SentBytes() - 1000); // past the end of the last window
        controller->OnAck(flow, {.rtt = static_cast<Picos>(rttUs * 1000 * PS_PER_NS)});
    }
    void Is(double gbps, const std::string& why) const
    {
        ASSERT_NEAR(flow.RateBps() / 1e9, gbps, 2e-9, why);
    }

    const PathFacts facts = DumbbellFacts(1056);
    FakeFlow flow{facts};
    Ptr<CongestionControl> controller = ObjectFactory("rdma::timely").Create<CongestionControl>();
};

TEST("timely: the factor of each region of the RTT")
{
    Heard heard;
    const auto window = [&](double rttUs, double gbps, const std::string& why)
    {
        heard.Window(rttUs);
        heard.Is(gbps, why);
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
    Heard heard("HyperBelowLow");
    for (const double rttUs : {100, 120, 115, 110, 105, 100, 95, 90}) // 30 Gb/s, then six increases
    {
        heard.Window(rttUs);
    }
    heard.Is(31.0, "five steps of 100 Mb/s and one of 500");
    for (int i = 0; i < 10; ++i)
    {
        heard.Window(40);
    }
    heard.Is(32.0, "ten steps of 100 Mb/s");
}

TEST("timely: a window follows the rate where RateWindow asks for it")
{
    Heard heard("RateWindow", true);
    ASSERT_EQ(heard.flow.WindowBytes(), 78000, "a BDP at line rate");
    heard.Window(100);
    heard.Window(120); // leaves 1 - 0.8 * 0.875 of the rate
    ASSERT_NEAR(heard.flow.WindowBytes(), 23400, 1.0, "three tenths of it, in whole bytes");
}

} // namespace

} // namespace ns3::env::rdma::test
