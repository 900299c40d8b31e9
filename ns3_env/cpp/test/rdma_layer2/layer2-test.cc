// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the laws by switches' feedback, BCN, SMCC and QCN: hand-made feedback, hand-computed rates.
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-layer2");

constexpr Picos MS = 1'000'000 * PS_PER_NS;
constexpr double MAX_CUT = 1 - 63 / 128.0; // QCN's at 63 levels

/// A flow under a law, driven by hand; frames of 1000 B.
struct Driven
{
    explicit Driven(const std::string& law, double rateBps = 1e9)
        : facts(DumbbellFacts(1000, rateBps)),
          flow(facts),
          controller(ObjectFactory("rdma::" + law).Create<CongestionControl>())
    {
        controller->OnFlowStart(flow);
    }

    void Feedback(double offset, double delta, uint32_t point = 1)
    {
        controller->OnCongestionNotification(
            flow,
            {.offsetBytes = offset, .deltaBytes = delta, .congestionPoint = point});
    }
    /// Checks the rate in Mb/s.
    void Is(double mbps, const std::string& why) const
    {
        EXPECT_NEAR(flow.RateBps() / 1e6, mbps, 1e-9 * mbps, why);
    }

    /// QCN's feedback.
    void Notify(uint32_t level)
    {
        controller->OnCongestionNotification(flow, {.now = now, .feedback = level});
    }
    /// Frames at one instant, so that the timer does not advance.
    void Send(uint32_t frames)
    {
        for (uint32_t i = 0; i < frames; ++i)
        {
            controller->OnPacketSent(flow, now, 1000);
        }
    }
    void Pass(Picos time)
    {
        now += time;
        Send(1); // a timer is worked off as a packet leaves
    }

    PathFacts facts;
    FakeFlow flow;
    Ptr<CongestionControl> controller;
    Picos now{0};
};

/// Jiang 2015, eqs. 1 and 2: 63 levels of Fb correspond to 64 kB * 5.
TEST("bcn: multiplicative decrease, additive increase, by one congestion point's word")
{
    Driven bcn("bcn");
    const auto notify =
        [&](double offset, double delta, uint32_t point, double mbps, const std::string& why)
    {
        bcn.Feedback(offset, delta, point);
        bcn.Is(mbps, why);
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
    rate *= MAX_CUT;
    notify(1e6, 1e6, 2, rate, "|Fb| is cut off at 63 levels; the other queue may lower the rate");
    notify(-64e3, 0, 1, rate, "and is the one that may raise it from now on");
    notify(-64e3, 0, 2, rate + 4 * 63.0 / 5, "which it does");
    for (int i = 0; i < 10; ++i)
    {
        bcn.Feedback(1e6, 0, 2);
    }
    notify(1e6, 1e6, 2, 10, "the least rate");
    for (int i = 0; i < 40; ++i)
    {
        bcn.Feedback(-1e6, 0, 2);
    }
    notify(-1e6, 0, 2, 1000, "no more than line rate");
}

/// Jiang 2015, eq. 25, with the settings that it recommends at 1 Gb/s.
TEST("smcc: a Q_off in state A, b dQ in state B, in units of the link's rate")
{
    for (const double gbps : {1, 100})
    {
        Driven smcc("smcc", gbps * 1e9);
        const auto notify = [&](double offset,
                                double delta,
                                double mbps,
                                const std::string& why,
                                uint32_t point = 1)
        {
            smcc.Feedback(offset, delta, point);
            smcc.Is(mbps * gbps, why);
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
        smcc.controller->SetAttribute("SmallStep", DoubleValue(0.256));
        notify(16e3, 1e3, 552, "one stage: R_a = 256");
        for (const double offset : {64e3, -64e3})
        {
            for (int i = 0; i < 9; ++i)
            {
                smcc.Feedback(offset, 0);
            }
            notify(offset, 0, offset > 0 ? 10 : 1000, "the least rate, or no more than line rate");
        }
    }
}

TEST("qcn: a decrease by Gd per level, at most half, never below the least rate")
{
    Driven qcn("qcn");
    qcn.Send(1000);
    qcn.Is(1000, "at line rate nothing is counted");
    qcn.Notify(0);
    qcn.Is(1000, "no congestion");
    qcn.Notify(32);
    qcn.Is(750, "1 - 32 / 128");
    qcn.Notify(63);
    qcn.Is(750 * MAX_CUT, "1 - 63 / 128");
    qcn.controller->SetAttribute("Gd", DoubleValue(1.0 / 64));
    qcn.Notify(63);
    qcn.Is(750 * MAX_CUT / 2, "no more than half at once");
    for (int i = 0; i < 10; ++i)
    {
        qcn.Notify(63);
    }
    qcn.Is(10, "the least rate is a hundredth of the link's");
}

TEST("qcn: five cycles of 150 kB towards the target, then active increase each 75 kB")
{
    Driven qcn("qcn");
    qcn.Notify(63);
    double rate = 1000 * MAX_CUT;
    double target = 1000;
    const auto cycle = [&](uint32_t frames, double step, const std::string& why)
    {
        qcn.Send(frames);
        target += step;
        rate = (rate + target) / 2;
        qcn.Is(rate, why);
    };
    qcn.Send(150);
    qcn.Is(rate, "150 kB have been sent, and not more");
    for (const uint32_t frames : {1, 151, 151, 151})
    {
        cycle(frames, 0, "half the way to the target (eq. 3)");
    }
    qcn.Notify(16);
    target = rate; // of a second decrease: the rate before it
    rate *= 1 - 16 / 128.0;
    for (int i = 1; i <= 5; ++i)
    {
        cycle(151, 0, "fast recovery to the new target");
    }
    qcn.Send(75);
    qcn.Is(rate, "half a cycle is not over at 75 kB");
    cycle(1, 1, "active increase: the target grows by 1 Mb/s (eq. 4)");
    cycle(76, 1, "and again");
}

TEST("qcn: decreases in a row keep the first one's target")
{
    for (const bool latest : {false, true})
    {
        Driven qcn("qcn");
        qcn.controller->SetAttribute("LatestTarget", BooleanValue(latest));
        qcn.Notify(32);
        qcn.Notify(32);
        qcn.Is(562.5, "750 * 0.75");
        qcn.Send(151);
        qcn.Is((562.5 + (latest ? 750 : 1000)) / 2, "line rate, or the rate before the second");
    }
}

TEST("qcn: a target ten times the rate is an eighth after the first cycle")
{
    Driven qcn("qcn");
    for (int i = 0; i < 5; ++i)
    {
        qcn.Notify(63);
    }
    const double rate = qcn.flow.RateBps() / 1e6;
    EXPECT_LT(rate, 100, "below a tenth");
    qcn.Send(151);
    qcn.Is((rate + 125) / 2, "1000 / 8");
}

TEST("qcn: the timer's cycles of 15 ms, then half; both out of recovery: hyper-active increase")
{
    Driven qcn("qcn");
    qcn.Notify(63);
    double rate = 1000 * MAX_CUT;
    const auto pass = [&](Picos time, double target, const std::string& why)
    {
        qcn.Pass(time);
        rate = (rate + target) / 2;
        qcn.Is(rate, why);
    };
    qcn.Pass(15 * MS - 1);
    qcn.Is(rate, "not yet");
    pass(1, 1000, "15 ms: the first cycle");
    qcn.Notify(63);
    rate *= MAX_CUT; // no cycle of bytes is over: the target stays 1000
    for (int cycle = 1; cycle <= 5; ++cycle)
    {
        pass(15 * MS, 1000, "five cycles");
    }
    pass(15 * MS / 2, 1000, "active: the target is line rate at most");

    qcn.flow.SetRate(1e9); // both counters, target below line rate
    qcn.controller = ObjectFactory("rdma::qcn").Create<CongestionControl>();
    qcn.controller->OnFlowStart(qcn.flow);
    qcn.Notify(63);
    qcn.Send(151);
    qcn.Notify(63);
    const double target = 1000 * (MAX_CUT + 1) / 2; // 754: the rate before
    rate = target * MAX_CUT;
    for (int cycle = 1; cycle <= 6; ++cycle)
    {
        qcn.Send(cycle == 6 ? 76 : 151);
        rate = (rate + target + (cycle == 6 ? 1 : 0)) / 2;
    }
    qcn.Is(rate, "the byte counter alone: active increase");
    for (int cycle = 1; cycle <= 5; ++cycle)
    {
        pass(15 * MS, target + 1 + cycle, "active at each of the timer's first five cycles");
    }
    // both are out of recovery: 10 Mb/s times the lesser number of cycles beyond it
    pass(15 * MS / 2, target + 6 + 10, "hyper-active increase");
}

TEST("qcn: at a hundred times the rate everything is a hundred times as fast")
{
    Driven qcn("qcn", 100e9);
    qcn.Notify(63);
    double rate = 100'000 * MAX_CUT;
    qcn.Is(rate, "decrease");
    qcn.Pass(15 * MS / 100);
    rate = (rate + 100'000) / 2;
    qcn.Is(rate, "the timer's cycle is 150 us");
    qcn.controller->SetAttribute("TimeReset", TimeValue(Time(0)));
    qcn.Notify(63);
    rate *= MAX_CUT;
    qcn.Pass(1000 * MS);
    qcn.Is(rate, "no timer");
}

} // namespace

} // namespace ns3::env::rdma::test
