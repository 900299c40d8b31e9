// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of RTT-driven MPC (Lynn et al. 2020): each equation, hostile input, a fluid bottleneck.
#include "ns3_env/cpp/tcp/controllers/rttmpc-control.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-rttmpc-control");

constexpr double MS = 1e6; // nanoseconds
constexpr double SECOND = 1e9;

TEST("eq. 2: a rate above r_B by a fifth adds a fifth of the time to the RTT")
{
    RttMpcStep step{.rateBps = 12e6,
                    .rttNs = 30 * MS,
                    .meanNs = 0,
                    .targetNs = 0,
                    .leastNs = 25 * MS,
                    .dtNs = 10 * MS,
                    .bottleneckBps = 10e6};
    EXPECT_NEAR(PredictRtt(step, 40 * MS), 32 * MS, 1e-3, "the queue grows");
    step.rateBps = 8e6;
    EXPECT_NEAR(PredictRtt(step, 40 * MS), 28 * MS, 1e-3, "it shrinks");
    step.dtNs = 100 * MS;
    EXPECT_NEAR(PredictRtt(step, 40 * MS), 25 * MS, 1e-3, "no less than l_P");
    step.rateBps = 30e6;
    EXPECT_NEAR(PredictRtt(step, 40 * MS), 40 * MS, 1e-3, "no more than l_B");
}

TEST("eq. 3: 37 % of the distance is left after tau_d, in however many steps")
{
    const double euler = 20 * MS + (30 * MS - 20 * MS) / SECOND * (1e-3 * SECOND);
    EXPECT_NEAR(BackOff(20 * MS, 30 * MS, 1e-3 * SECOND, SECOND),
                euler,
                10 * MS * 1e-6, // the second order, (dt / tau)^2
                "a short step is the paper's");
    for (int steps : {1, 7, 1000})
    {
        double extreme = 20 * MS;
        for (int i = 0; i < steps; ++i)
        {
            extreme = BackOff(extreme, 30 * MS, SECOND / steps, SECOND);
        }
        EXPECT_NEAR((30 * MS - extreme) / (10 * MS), std::exp(-1), 1e-9, steps << " steps");
    }
    EXPECT_NEAR(BackOff(20 * MS, 30 * MS, 1e6 * SECOND, SECOND),
                30 * MS,
                1e-3,
                "a long step does not overshoot");
}

TEST("eqs. 4, 5: an extreme RTT is a new one, or the old one on its way to the mean")
{
    RttRange least(100, 0.125); // tau_d: 100 running averages
    least.Start(20 * MS);
    least.Smooth(100 * MS); // the mean: 30 ms
    least.Observe(40 * MS, 3 * SECOND);
    EXPECT_NEAR(least.MinNs(), (30 - 10 * std::exp(-1)) * MS, 1e-3, "after tau_d");
    least.Observe(15 * MS, 0);
    EXPECT_NEAR(least.MinNs(), 15 * MS, 1e-3, "a smaller one");
    RttRange largest(100, 0.125);
    largest.Start(100 * MS);
    largest.Smooth(20 * MS); // the mean: 90 ms
    largest.Observe(20 * MS, 9 * SECOND);
    EXPECT_NEAR(largest.MaxNs(), (90 + 10 * std::exp(-1)) * MS, 1e-3, "after tau_d");
    largest.Observe(200 * MS, 0);
    EXPECT_NEAR(largest.MaxNs(), 200 * MS, 1e-3, "a larger one");
}

TEST("eq. 6: where the RTT follows eq. 1, r_B is found exactly")
{
    for (double memoryRtts : {0.0, 20.0})
    {
        BottleneckRate rate(memoryRtts);
        double rttNs = 30 * MS;
        rate.Start(rttNs, 1e6);
        for (int k = 0; k < 200; ++k)
        {
            const double bps = 40e6 * (1 + 0.3 * std::sin(k));
            rttNs += (bps - 40e6) / 40e6 * MS; // eq. 2, dt = 1 ms
            rate.Add(bps, MS, rttNs);
            ASSERT_NEAR(rate.Bps(), 40e6, 1e-3, "after " << k);
        }
    }
    BottleneckRate rate(0);
    rate.Start(30 * MS, 7e6);
    rate.Add(7e6, 0, 10 * MS);
    EXPECT_EQ(rate.Bps(), 7e6, "no estimate of time that runs back");
}

TEST("eq. 7: no other rate costs less")
{
    /// c1 (l' - l_t)^2 + alpha c2 (l' - mean)^2 + c3 l_P^2 (r' - r)^2 / r_B^2, l' by eq. 2
    const auto cost = [](const RttMpcWeights& w, const RttMpcStep& s, double bps) -> double
    {
        const double rtt = s.rttNs + (bps - s.bottleneckBps) / s.bottleneckBps * s.dtNs;
        const double change = s.leastNs * (bps - s.rateBps) / s.bottleneckBps;
        return w.target * std::pow(rtt - s.targetNs, 2) +
               w.smoothing * w.variance * std::pow(rtt - s.meanNs, 2) +
               (1 - w.target - w.variance) * change * change;
    };

    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(0.01, 1);
    const auto any = [&] { return unit(random); };
    for (int i = 0; i < 200; ++i)
    {
        const double c1 = 0.9 * any();
        const RttMpcWeights weights{c1, (0.95 - c1) * any(), any()};
        const RttMpcStep step{any(), any(), any(), any(), any(), any(), any()};
        const double best = OptimalRate(weights, step);
        const double least = cost(weights, step, best);
        for (double other : {best - 1e-3, best + 1e-3})
        {
            ASSERT_LT(least, cost(weights, step, other), "optimum " << i);
        }
    }
}

TEST("eq. 8: a step by hand")
{
    // Lambda = 0.25 (16 - 2) - 0.2 12 - 0.05 14 = 0.4; r = (40 100 - 2 80 0.4) / (40 + 4 0.25)
    const double rate = OptimalRate({.target = 0.2, .variance = 0.4, .smoothing = 0.125},
                                    {.rateBps = 100,
                                     .rttNs = 16,
                                     .meanNs = 14,
                                     .targetNs = 12,
                                     .leastNs = 10,
                                     .dtNs = 2,
                                     .bottleneckBps = 80});
    EXPECT_NEAR(rate, 96, 1e-12, "r(n+1)");
}

TEST("after 1e7 ACKs eq. 6 is what long double makes of it")
{
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(0.5, 1.5);
    BottleneckRate rate(0);
    double rttNs = 25 * MS;
    rate.Start(rttNs, 40e9);
    const double firstNs = rttNs;
    long double sent = 0;
    long double time = 0;
    for (int k = 0; k < 10'000'000; ++k)
    {
        const double bps = 40e9 * unit(random);
        const double dtNs = 300 * unit(random);
        rttNs = 25 * MS * unit(random);
        sent += static_cast<long double>(bps * dtNs);
        time += dtNs;
        rate.Add(bps, dtNs, rttNs);
    }
    const long double expected = sent / (rttNs - firstNs + time);
    EXPECT_LT(std::abs(static_cast<double>(rate.Bps() / expected - 1)), 1e-15, "relative error");
}

/// Any values that a clock and a socket could report, and values that they could not.
TEST("rates stay finite and between their bounds whatever comes in whichever order")
{
    std::mt19937_64 random(1);
    const int64_t extremes[] = {std::numeric_limits<int64_t>::min(),
                                -1,
                                0,
                                1,
                                std::numeric_limits<int64_t>::max()};
    for (double stepRtts : {0.0, 1.0})
    {
        RttMpcControl control(
            {.stepRtts = stepRtts, .memoryRtts = 50, .leastBps = 2e6, .largestBps = 3e9});
        int64_t nowNs = 0;
        for (int i = 0; i < 300'000; ++i)
        {
            const auto pick = random() % 100;
            int64_t rttNs = static_cast<int64_t>(random() % 50'000'000);
            nowNs += static_cast<int64_t>(random() % 1'000'000);
            rttNs = pick == 0 ? extremes[random() % 5] : rttNs;
            nowNs = pick == 1 ? extremes[random() % 5] / 2 : nowNs;
            if (pick == 2)
            {
                control.OnLoss();
            }
            else if (pick == 3)
            {
                control.Resume(nowNs);
            }
            const double bps = control.OnAck(nowNs, rttNs);
            ASSERT(bps >= 2e6 && bps <= 3e9, bps << " at ACK " << i);
            ASSERT(std::isfinite(control.TargetNs()), "target at ACK " << i);
        }
        EXPECT_GT(control.Counters().optima, 100, "the optimum was computed");
    }
}

TEST("an RTT of 0 is refused, a step of no length changes no rate")
{
    RttMpcControl control({.stepRtts = 0, .initialBps = 5e6});
    control.OnAck(1000, 0);
    EXPECT_EQ(control.Counters().refused, 1, "refused");
    EXPECT_EQ(control.Counters().acks, 0, "not taken");
    control.OnAck(1000, 25'000'000);
    for (int i = 0; i < 10; ++i)
    {
        EXPECT_EQ(control.OnAck(1000, 25'000'000 + i), 5e6, "the same time again");
    }
}

TEST("time in which nothing was sent is no part of eq. 6")
{
    RttMpcControl control({.probeRtts = 0, .initialBps = 10e6, .largestBps = 10e6});
    int64_t nowNs = 0;
    const auto acks = [&](int count)
    {
        for (; count > 0; --count)
        {
            nowNs += 1'000'000;
            control.OnAck(nowNs, 25'000'000);
        }
    };
    acks(1000);
    EXPECT_NEAR(control.BottleneckBps() / 10e6, 1, 1e-3, "sent at 10 Mb/s");
    nowNs += 10'000'000'000;
    control.Resume(nowNs);
    control.OnLoss(); // half the rate: an idle time at 10 Mb/s would weigh ten times as much
    acks(20);
    const double share = (999 + 0.5 * 20) / (999 + 20);
    EXPECT_NEAR(control.BottleneckBps() / 10e6, share, 2e-3, "and at 5 Mb/s");
}

TEST("settings that contradict each other are refused")
{
    const auto refused = [&](const RttMpcSettings& settings, const std::string& why)
    { EXPECT_NE(env::test::Refusal([&] { RttMpcControl control(settings); }), "", why); };
    refused({.weightTarget = 0.5, .weightVariance = 0.5}, "nothing is left for c3");
    refused({.weightTarget = 0}, "no target");
    refused({.smoothing = 0}, "no average");
    refused({.targetShare = 1.1}, "a target above l_B");
    refused({.decayRtts = 0}, "no tau_d");
    refused({.probeGain = 1}, "a probe that sends nothing");
    refused({.leastBps = 2e6, .largestBps = 1e6}, "bounds the wrong way round");
    refused({.largestBps = std::numeric_limits<double>::infinity()}, "no bound");
}

using env::test::Case;
using env::test::Shown;

constexpr double PROPAGATION = 25e6; // ns

/// A queue that all flows share; a flow learns its RTT when the ACK arrives.
class FluidBottleneck
{
  public:
    static constexpr int ACKS_PER_RTT = 50;

    FluidBottleneck(double rateBps, double propagationNs, double bufferNs)
        : m_rateBps(rateBps),
          m_propagationNs(propagationNs),
          m_bufferNs(bufferNs)
    {
    }

    RttMpcControl& Join(const RttMpcSettings& settings)
    {
        m_flows.push_back({.control = RttMpcControl(settings), .acks = {}});
        return m_flows.back().control;
    }

    /// Calls `see()` at every ACK of the first flow.
    void Run(double rtts, const std::function<void()>& see = [] {})
    {
        const double dtNs = m_propagationNs / ACKS_PER_RTT;
        for (const double endNs = m_nowNs + rtts * m_propagationNs; m_nowNs < endNs;
             m_nowNs += dtNs)
        {
            double sumBps = 0;
            for (const Flow& flow : m_flows)
            {
                sumBps += flow.control.RateBps();
            }
            const double nextNs = m_queueNs + (sumBps - m_rateBps) / m_rateBps * dtNs; // eq. 2
            const bool lost = nextNs > m_bufferNs;
            m_queueNs = std::clamp(nextNs, 0.0, m_bufferNs);
            for (Flow& flow : m_flows)
            {
                flow.acks.push_back({m_nowNs + RttNs(), RttNs(), lost});
                Deliver(flow);
            }
            see();
        }
    }

    double RateBps() const { return m_rateBps; }
    double QueueNs() const { return m_queueNs; }
    double RttNs() const { return m_propagationNs + m_queueNs; }
    RttMpcControl& Control(size_t flow) { return m_flows[flow].control; }

  private:
    struct Ack
    {
        double timeNs;
        double rttNs;
        bool lost;
    };

    struct Flow
    {
        RttMpcControl control;
        std::deque<Ack> acks;
        double recoveredNs{0};
    };

    void Deliver(Flow& flow) const
    {
        for (; !flow.acks.empty() && flow.acks.front().timeNs <= m_nowNs; flow.acks.pop_front())
        {
            const Ack& ack = flow.acks.front();
            if (ack.lost && ack.timeNs >= flow.recoveredNs)
            {
                flow.control.OnLoss();
                flow.recoveredNs = ack.timeNs + ack.rttNs; // one recovery per RTT, as TCP
            }
            flow.control.OnAck(static_cast<int64_t>(ack.timeNs), static_cast<int64_t>(ack.rttNs));
        }
    }

    double m_rateBps;
    double m_propagationNs;
    double m_bufferNs;
    double m_nowNs{1e6};
    double m_queueNs{0};
    std::vector<Flow> m_flows;
};

class Moments
{
  public:
    void Add(double value)
    {
        ++m_count;
        m_sum += value;
        m_squares += value * value;
    }

    double Mean() const { return m_sum / m_count; }
    double Deviation() const
    {
        return std::sqrt(std::max(0.0, m_squares / m_count - Mean() * Mean()));
    }

  private:
    double m_count{0};
    double m_sum{0};
    double m_squares{0};
};

/// Decay forgets the extremes of the path's RTT; probes measure them again.
TEST("probes find the RTTs of an empty and of a full queue again")
{
    FluidBottleneck path(1e9, PROPAGATION, PROPAGATION);
    const RttMpcControl& control = path.Join({.decayRtts = 200, .probeRtts = 60});
    path.Run(400);
    double least = 1e18;
    double forgotten = 0;
    double largest = 0;
    Moments rate;
    path.Run(1000,
             [&]
             {
                 least = std::min(least, control.Range().MinNs());
                 forgotten = std::max(forgotten, control.Range().MinNs());
                 largest = std::max(largest, control.Range().MaxNs());
                 rate.Add(control.RateBps() / 1e9);
             });
    EXPECT_GT(forgotten, 1.1 * PROPAGATION, "l_P was forgotten");
    EXPECT_LT(least, 1.01 * PROPAGATION, "and found");
    EXPECT_GT(largest, 1.9 * PROPAGATION, "l_B, close to the full queue");
    EXPECT_GT(control.Counters().probesUp, 2, "probes up");
    EXPECT_GT(control.Counters().probesDown, 2, "probes down");
    EXPECT_NEAR(rate.Mean(), 1, 0.02, "probes cost little");
}

TEST("a loss empties the queue once, then the flow goes on")
{
    FluidBottleneck path(1e9, PROPAGATION, PROPAGATION);
    path.Join({.decayRtts = 1e5, .probeRtts = 0});
    path.Run(300);
    RttMpcControl& control = path.Control(0);
    EXPECT_GT(path.QueueNs(), 0.3 * PROPAGATION, "a queue stands");
    EXPECT_NEAR(control.OnLoss() / 1e9, 0.5, 0.01, "half of r_B");
    control.OnLoss();
    EXPECT_NEAR(control.RateBps() / 1e9, 0.5, 0.01, "not less for a second loss");
    double queue = path.QueueNs();
    path.Run(4, [&] { queue = std::min(queue, path.QueueNs()); });
    EXPECT_LT(queue, 0.01 * PROPAGATION, "it empties");
    path.Run(200);
    EXPECT_NEAR(path.RttNs() / control.TargetNs(), 1, 0.05, "the target again");
}

TEST("the RTT comes to its target and the rate to the bottleneck's, from any beginning")
{
    for (const auto& [rateBps, propagationNs, bufferRtts, initialShare] :
         {std::tuple{1e9, 25e6, 0.5, 0.01},
          {1e9, 25e6, 1.0, 0.01},
          {1e9, 25e6, 2.0, 0.01},
          {1e9, 25e6, 1.0, 0.9},
          {1e9, 25e6, 1.0, 3.0},
          {100e9, 20e3, 1.0, 0.01}})
    {
        const Case about(Shown(rateBps) + " bit/s from " + Shown(initialShare) + " of it, RTT " +
                         Shown(propagationNs) + " ns, buffer of " + Shown(bufferRtts) + " RTTs");
        FluidBottleneck path(rateBps, propagationNs, bufferRtts * propagationNs);
        const RttMpcControl& control = path.Join({.decayRtts = 1e5,
                                                  .probeRtts = 0,
                                                  .initialBps = initialShare * rateBps,
                                                  .leastBps = 1e3});
        path.Run(4000); // eq. 6 forgets a slow start as 1 / t
        Moments rate;
        Moments rtt;
        const auto see = [&]
        {
            rate.Add(control.RateBps() / path.RateBps());
            rtt.Add(path.RttNs());
        };
        path.Run(50, see);
        EXPECT_NEAR(rtt.Mean() / control.TargetNs(), 1, 0.03, "RTT over its target");
        EXPECT_LT(rtt.Deviation() / propagationNs, 0.02, "the RTT is smooth");
        EXPECT_NEAR(rate.Mean(), 1, 0.01, "rate over r_B");
        EXPECT_LT(rate.Deviation(), 0.02, "the rate is smooth");
        EXPECT_NEAR(control.BottleneckBps() / rateBps, 1, 0.03, "the estimate of r_B");
        EXPECT_NEAR(control.Range().MinNs() / propagationNs, 1, 0.02, "l_P");
        EXPECT_GT(control.TargetNs(), 1.05 * propagationNs, "the target holds a queue");
    }
}

} // namespace

} // namespace ns3::env::tcp::test
