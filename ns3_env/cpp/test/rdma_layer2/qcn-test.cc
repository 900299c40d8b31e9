// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of QCN's reaction point (IEEE 802.1Q): hand-made feedback, hand-computed rates.
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/test/suite.h"

#include <memory>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-qcn");

constexpr double MBPS = 1e6;
constexpr Picos MS = 1'000'000 * PS_PER_NS;
constexpr uint32_t FRAME = 1000;

/// A flow at 1 Gb/s, driven by hand.
struct Qcn
{
    void Start(double rateBps = 1e9)
    {
        facts = DumbbellFacts(FRAME, rateBps);
        flow = std::make_unique<FakeFlow>(facts);
        controller->OnFlowStart(*flow);
    }
    void Notify(uint32_t feedback)
    {
        controller->OnCongestionNotification(*flow, {.now = now, .feedback = feedback});
    }
    /// Frames at one instant, so that the timer does not advance.
    void Send(uint32_t frames)
    {
        for (uint32_t i = 0; i < frames; ++i)
        {
            controller->OnPacketSent(*flow, now, FRAME);
        }
    }
    void Pass(Picos time)
    {
        now += time;
        Send(1); // a timer is worked off as a packet leaves
    }
    void Is(double mbps, const std::string& why)
    {
        EXPECT_NEAR(flow->RateBps() / MBPS, mbps, 1e-9 * mbps, why);
    }

    Picos now{0};
    PathFacts facts{};
    std::unique_ptr<FakeFlow> flow;
    Ptr<CongestionControl> controller = ObjectFactory("rdma::qcn").Create<CongestionControl>();
};

TEST("qcn: a decrease by Gd per level, at most half, never below the least rate")
{
    Qcn qcn;
    qcn.Start();
    qcn.Send(1000);
    qcn.Is(1000, "at line rate nothing is counted");
    qcn.Notify(0);
    qcn.Is(1000, "no congestion");
    qcn.Notify(32);
    qcn.Is(750, "1 - 32 / 128");
    qcn.Notify(63);
    qcn.Is(750 * (1 - 63 / 128.0), "1 - 63 / 128");
    qcn.controller->SetAttribute("Gd", DoubleValue(1.0 / 64));
    qcn.Notify(63);
    qcn.Is(750 * (1 - 63 / 128.0) / 2, "no more than half at once");
    for (int i = 0; i < 10; ++i)
    {
        qcn.Notify(63);
    }
    qcn.Is(10, "the least rate is a hundredth of the link's");
}

TEST("qcn: five cycles of 150 kB towards the target, then active increase each 75 kB")
{
    Qcn qcn;
    qcn.Start();
    qcn.Notify(63);
    double rate = 1000 * (1 - 63 / 128.0);
    qcn.Send(150);
    qcn.Is(rate, "150 kB have been sent, and not more");
    for (int cycle = 1; cycle <= 4; ++cycle)
    {
        qcn.Send(cycle == 1 ? 1 : 151);
        rate = (rate + 1000) / 2;
        qcn.Is(rate, "half the way to the target (eq. 3)");
    }
    // A second decrease: the target is the rate before it.
    qcn.Notify(16);
    const double target = rate;
    rate *= 1 - 16 / 128.0;
    for (int cycle = 1; cycle <= 5; ++cycle)
    {
        qcn.Send(151);
        rate = (rate + target) / 2;
        qcn.Is(rate, "fast recovery to the new target");
    }
    qcn.Send(75);
    qcn.Is(rate, "half a cycle is not over at 75 kB");
    qcn.Send(1);
    rate = (rate + target + 1) / 2;
    qcn.Is(rate, "active increase: the target grows by 1 Mb/s (eq. 4)");
    qcn.Send(76);
    rate = (rate + target + 2) / 2;
    qcn.Is(rate, "and again");
}

TEST("qcn: decreases in a row keep the first one's target")
{
    Qcn qcn;
    qcn.Start();
    qcn.Notify(32);
    qcn.Notify(32);
    qcn.Is(562.5, "750 * 0.75");
    qcn.Send(151);
    qcn.Is((562.5 + 1000) / 2, "back towards line rate");

    qcn.controller = ObjectFactory("rdma::qcn").Create<CongestionControl>();
    qcn.controller->SetAttribute("LatestTarget", BooleanValue(true));
    qcn.Start();
    qcn.Notify(32);
    qcn.Notify(32);
    qcn.Send(151);
    qcn.Is((562.5 + 750) / 2, "with LatestTarget: back to the rate before the second");
}

TEST("qcn: a target ten times the rate is an eighth after the first cycle")
{
    Qcn qcn;
    qcn.Start();
    for (int i = 0; i < 5; ++i)
    {
        qcn.Notify(63);
    }
    const double rate = qcn.flow->RateBps() / MBPS;
    EXPECT_LT(rate, 100, "below a tenth");
    qcn.Send(151);
    qcn.Is((rate + 125) / 2, "1000 / 8");
}

TEST("qcn: the timer's cycles of 15 ms, then half; both out of recovery: hyper-active "
     "increase")
{
    Qcn qcn;
    qcn.Start();
    qcn.Notify(63);
    double rate = 1000 * (1 - 63 / 128.0);
    qcn.Pass(15 * MS - 1);
    qcn.Is(rate, "not yet");
    qcn.Pass(1);
    rate = (rate + 1000) / 2;
    qcn.Is(rate, "15 ms: the first cycle");
    qcn.Notify(63);
    rate *= 1 - 63 / 128.0; // no cycle of bytes is over: the target stays 1000
    for (int cycle = 1; cycle <= 5; ++cycle)
    {
        qcn.Pass(15 * MS);
        rate = (rate + 1000) / 2;
        qcn.Is(rate, "five cycles");
    }
    qcn.Pass(15 * MS / 2);
    rate = (rate + 1000) / 2;
    qcn.Is(rate, "active: the target is line rate at most");

    qcn.Start(); // both counters, target below line rate
    qcn.controller = ObjectFactory("rdma::qcn").Create<CongestionControl>();
    qcn.Start();
    qcn.Notify(63);
    qcn.Send(151);
    qcn.Notify(63); // target 754: the rate before
    const double target = (1000 * (1 - 63 / 128.0) + 1000) / 2;
    rate = target * (1 - 63 / 128.0);
    for (int cycle = 1; cycle <= 6; ++cycle)
    {
        const bool active = cycle == 6;
        qcn.Send(active ? 76 : 151);
        rate = (rate + target + (active ? 1 : 0)) / 2;
    }
    qcn.Is(rate, "the byte counter alone: active increase");
    for (int cycle = 1; cycle <= 5; ++cycle)
    {
        qcn.now += 15 * MS;
        qcn.Send(1);
        rate = (rate + target + 1 + cycle) / 2;
    }
    qcn.Is(rate, "active increase at each of the timer's first five cycles");
    qcn.now += 15 * MS / 2;
    qcn.Send(1);
    rate = (rate + target + 6 + 10) / 2;
    qcn.Is(rate, "both are out of recovery: 10 Mb/s times the lesser number of cycles beyond it");
}

TEST("qcn: at a hundred times the rate everything is a hundred times as fast")
{
    Qcn qcn;
    qcn.Start(100e9);
    qcn.Notify(63);
    double rate = 100'000 * (1 - 63 / 128.0);
    qcn.Is(rate, "decrease");
    qcn.Pass(15 * MS / 100);
    rate = (rate + 100'000) / 2;
    qcn.Is(rate, "the timer's cycle is 150 us");
    qcn.controller->SetAttribute("TimeReset", TimeValue(Time(0)));
    qcn.Notify(63);
    rate *= 1 - 63 / 128.0;
    qcn.Pass(1000 * MS);
    qcn.Is(rate, "no timer");
}

} // namespace

} // namespace ns3::env::rdma::test
