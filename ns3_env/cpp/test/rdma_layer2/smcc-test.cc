// SPDX-License-Identifier: GPL-2.0-or-later
// Test of SMCC's equation: both states, both stages, against hand-computed rates.
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-smcc");

/// Jiang 2015, eq. 25, with the settings that it recommends at 1 Gb/s.
void
Smcc(double rateBps)
{
    const env::test::Case about("smcc: a Q_off in state A, b dQ in state B, at a link of " +
                                std::to_string(static_cast<int>(rateBps / 1e9)) + " Gb per s");
    const double scale = rateBps / 1e9;
    const PathFacts facts = DumbbellFacts(1048, rateBps);
    FakeFlow flow{facts};
    Ptr<CongestionControl> controller = ObjectFactory("rdma::smcc").Create<CongestionControl>();
    const auto notify = [&](double offset,
                            double delta,
                            double expectedMbps,
                            const std::string& why,
                            uint32_t point = 1)
    {
        controller->OnCongestionNotification(
            flow,
            {.offsetBytes = offset, .deltaBytes = delta, .congestionPoint = point});
        EXPECT_NEAR(flow.RateBps() / 1e6, expectedMbps * scale, 1e-6 * scale, why);
    };

    notify(32e3, 16e3, 872, "state A, a large change: 256 * 32 / 64");
    notify(32e3, 8e3, 808, "state A, a small change: 128 * 32 / 64");
    notify(32e3, -16e3, 824, "state B: the queue is on its way down, - 64 * -16 / 64");
    notify(-32e3, 16e3, 808, "state B: on its way up");
    notify(-32e3, -4e3, 872, "state A below the target: + 128 * 32 / 64");
    notify(32e3, 0, 808, "it stays where it is, above: state A");
    notify(-32e3, 0, 872, "and below");
    notify(0, 16e3, 872, "at the target: state A, with an offset of none");
    notify(0, -16e3, 872, "however it got there");
    notify(64e3, 100e3, 616, "at twice the target the step has its nominal size");
    notify(-16e3, -1e3, 616, "another queue may not raise the rate", 2);
    notify(16e3, 1e3, 584, "but lower it", 2);
    notify(-16e3, -1e3, 584, "and then the first may not", 1);
    notify(-16e3, -1e3, 616, "but the other one may", 2);
    controller->SetAttribute("SmallStep", DoubleValue(0.256));
    notify(16e3, 1e3, 552, "one stage: R_a = 256");
    for (int i = 0; i < 9; ++i)
    {
        controller->OnCongestionNotification(flow, {.offsetBytes = 64e3, .congestionPoint = 1});
    }
    notify(64e3, 0, 10, "the least rate");
    for (int i = 0; i < 9; ++i)
    {
        controller->OnCongestionNotification(flow, {.offsetBytes = -64e3, .congestionPoint = 1});
    }
    notify(-64e3, 0, 1000, "no more than line rate");
}

TEST("smcc: a Q_off in state A, b dQ in state B, in units of the link's rate")
{
    Smcc(1e9);
    Smcc(100e9);
}

} // namespace

} // namespace ns3::env::rdma::test
