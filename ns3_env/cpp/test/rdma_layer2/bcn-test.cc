// SPDX-License-Identifier: GPL-2.0-or-later
// Test of BCN's equation: hand-made feedback against hand-computed rates.
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-bcn");

/// Jiang 2015, eqs. 1 and 2: 63 levels of Fb correspond to 64 kB * 5.
TEST("bcn: multiplicative decrease, additive increase, by one congestion point's word")
{
    PathFacts facts = DumbbellFacts(1048, 1e9);
    FakeFlow flow{facts};
    Ptr<CongestionControl> controller = ObjectFactory("rdma::bcn").Create<CongestionControl>();
    const auto notify = [&](double offset,
                            double delta,
                            uint32_t point,
                            double expectedMbps,
                            const std::string& why)
    {
        controller->OnCongestionNotification(
            flow,
            {.offsetBytes = offset, .deltaBytes = delta, .congestionPoint = point});
        EXPECT_NEAR(flow.RateBps() / 1e6, expectedMbps, 1e-6, why);
    };

    notify(-64e3, 0, 1, 1000, "at line rate there is nothing to increase");
    const double levels = 63.0 * (16e3 + 2 * 32e3) / 320e3; // 15.75
    double rate = 1000 * (1 - levels / 128);
    notify(16e3, 32e3, 1, rate, "r (1 + Gd Fb)");
    notify(-64e3, 0, 2, rate, "another queue may not raise the rate");
    rate += 4 * 63.0 * 64e3 / 320e3;
    notify(-64e3, 0, 1, rate, "r + Gi Ru Fb");
    rate += 4 * 63.0 * (64e3 - 2 * 16e3) / 320e3;
    notify(-64e3, 16e3, 1, rate, "an empty but growing queue: less");
    rate *= 1 - 63 / 128.0;
    notify(1e6, 1e6, 2, rate, "|Fb| is cut off at 63 levels; the other queue may lower the rate");
    notify(-64e3, 0, 1, rate, "and is the one that may raise it from now on");
    notify(-64e3, 0, 2, rate + 4 * 63.0 / 5, "which it does");
    for (int i = 0; i < 9; ++i)
    {
        controller->OnCongestionNotification(flow, {.offsetBytes = 1e6, .congestionPoint = 2});
    }
    notify(1e6, 1e6, 2, 10, "the least rate");
    for (int i = 0; i < 40; ++i)
    {
        controller->OnCongestionNotification(flow, {.offsetBytes = -1e6, .congestionPoint = 2});
    }
    notify(-1e6, 0, 2, 1000, "no more than line rate");
}

} // namespace

} // namespace ns3::env::rdma::test
