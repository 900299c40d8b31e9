// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of MPCC's control (Zheng 2024): the model's equations, both solvers, the loop.
#include "ns3_env/cpp/contract/bottleneck-hop.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/mpcc/mpcc-control.h"
#include "ns3_env/cpp/test/suite.h"

#include <cmath>
#include <deque>
#include <random>
#include <tuple>

namespace ns3::env::rdma
{

namespace
{

SUITE("rdma-mpcc-control");

MpccInput
Dumbbell(double flows, double queueBytes, double windowBytes)
{
    return {.baseRttNs = 6240,
            .hostRateBps = 100e9,
            .bdpBytes = 78000,
            .packetBytes = 1080,
            .windowBytes = windowBytes,
            .stateQueueBytes = queueBytes,
            .stateFlows = flows,
            .stateRateBps = 100e9,
            .stateInputDelayNs = 1086,
            .stateFeedbackDelayNs = 5154};
}

/// Any input the simulator or a hostile caller could give.
MpccInput
RandomInput(std::mt19937_64& random)
{
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const auto logUniform = [&](double low, double high)
    { return low * std::pow(high / low, unit(random)); };
    MpccInput in;
    in.hostRateBps = logUniform(1e8, 8e11);
    in.baseRttNs = logUniform(1e3, 1e8);
    in.bdpBytes = in.baseRttNs * in.hostRateBps / 8e9;
    in.packetBytes = logUniform(64, 9000);
    in.stateFlows = std::floor(logUniform(1, 5000));
    in.stateRateBps = in.hostRateBps * logUniform(0.05, 8);
    in.stateQueueBytes = unit(random) < 0.3 ? 0.0 : logUniform(1, 1e9);
    in.windowBytes = unit(random) < 0.1 ? FlowState::NO_WINDOW : logUniform(1e-3, 1e9);
    in.stateInputDelayNs = in.baseRttNs * unit(random);
    in.stateFeedbackDelayNs = in.baseRttNs * unit(random);
    return in;
}

/// Equations 3.4, A.1, 3.7, 4.2 and 4.3.
TEST("the model follows eqs. 3.4, A.1, 3.7, 4.2 and 4.3")
{
    MpccControl control({.delayScale = 0.0});
    const MpccInput in = Dumbbell(4, 39000, 19500);
    control.Decide(in);
    const MpccModel& m = control.LastModel();
    // dt = 1080 * RTT / W; B = dt * N * R_in / (8 BDP); RTT = base RTT + Q / R_link (eq. 2.2)
    const double dt = 1080 * (6240 + 39000 * 8 / 100.0) / 19500;
    const double b = dt * 1e-9 * 4 * 100e9 / (8 * 78000.0);
    EXPECT_NEAR(m.b, b, 1e-12, "eq. 3.4");
    EXPECT_NEAR(m.q, 0.5, 1e-12, "Q / BDP");
    EXPECT_NEAR(m.fairShare, 0.25, 1e-12, "W*");
    EXPECT_NEAR(m.lower, -0.25, 1e-12, "eq. 4.2");
    EXPECT_NEAR(m.upper, 0.75, 1e-12, "eq. 4.2");
    EXPECT_NEAR(m.queueBound, 3.0, 1e-12, "eq. 4.3");

    // Eq. 3.7: at line rate, a round trip of inputs is still pending: (N - 1) BDP in all.
    MpccControl delayed({});
    delayed.Decide(Dumbbell(4, 0, 78000));
    const double steps = std::round(78000.0 / 1080);
    EXPECT_NEAR(delayed.LastModel().q,
                steps * (1080 / 78000.0) * 4 * 0.75,
                1e-9,
                "remembered inputs of a flow that began at BDP");
    // The sum reads the inputs themselves, newest first.
    MpccControl remembering({.memory = 3});
    MpccInput now = Dumbbell(4, 0, 78000);
    now.stateFeedbackDelayNs = 1e9;
    for (const double window : {78000, 39000, 19500, 9750})
    {
        now.windowBytes = window;
        remembering.Decide(now);
    }
    const double b4 = 1080.0 / 9750 * 4;
    EXPECT_NEAR(remembering.LastModel().q,
                std::max(0.0, b4 * (0.5 + 0.25 + 0.125 - 3 * 0.25)),
                1e-12,
                "the last three inputs");
}

/// Equations 3.5 to 3.7: Q-bar(k) is the queue that the inputs already sent will have made of Q(k).
TEST("Q-bar is where the delayed model takes the queue by then (eqs. 3.5 to 3.7)")
{
    for (int steps : {0, 1, 2, 7, 40})
    {
        MpccControl control({});
        std::vector<double> windows;
        MpccInput now{};
        for (int k = 0; k < 60; ++k)
        {
            now = Dumbbell(4, 39000, 78000 * (0.3 + 0.2 * std::sin(k)));
            // tau_1 + tau_2 steps of dt (eq. A.1)
            const double dt = 1080 * (6240 + 39000 * 8 / 100.0) / now.windowBytes;
            now.stateInputDelayNs = 0.4 * steps * dt;
            now.stateFeedbackDelayNs = 0.6 * steps * dt;
            windows.push_back(now.windowBytes / 78000);
            control.Decide(now);
        }
        const MpccModel& m = control.LastModel();
        double q = 0.5; // Q(k) / BDP_max
        for (int i = 0; i < steps; ++i)
        {
            // Q(k+1) = Q(k) + B (W(k - tau) - W*) (eq. 3.5); the newest input is the last to arrive
            q += m.b * (windows[windows.size() - steps + i] - 0.25);
        }
        EXPECT_NEAR(m.q, q, 1e-9, "after " << steps << " steps");
    }
}

/// A decision every n ACKs is a step of n dt; one per round trip a step of an RTT (eqs. A.1, 3.4).
TEST("the model's step is the time between two decisions")
{
    const MpccInput in = Dumbbell(4, 39000, 19500);
    const auto b = [&](int acks)
    {
        MpccControl control({.acksPerDecision = acks});
        control.Decide(in);
        return control.LastModel().b;
    };
    EXPECT_NEAR(b(5), 5 * b(1), 1e-12, "five ACKs");
    const double rtt = 6240 + 39000 * 8 / 100.0;
    EXPECT_NEAR(b(0), rtt * 4 / 6240, 1e-12, "a round trip");
}

/// Decision 0003: the clipped regulator is the QP's optimum, and Regulator proves it each time.
TEST("with and without qpOASES the control chooses the same windows, between the floor and BDP")
{
    std::mt19937_64 random(1);
    for (int horizon : {1, 2, 3, 5, 10, 20})
    {
        const env::test::Case about("P = " + std::to_string(horizon));
        MpccControl qp({.horizon = horizon, .shortcut = false});
        MpccControl fast({.horizon = horizon});
        MpccControl lqr({.horizon = horizon, .solver = MpccSolver::Lqr});
        for (int i = 0; i < 4000; ++i)
        {
            if (i % 1000 == 999)
            {
                qp.Reset();
                fast.Reset();
                lqr.Reset();
            }
            const MpccInput in = RandomInput(random);
            const double window = qp.Decide(in);
            ASSERT(std::isfinite(window) && window > 0.0, "finite and positive");
            ASSERT_GE(window, qp.Floor(in), "floor");
            ASSERT_LE(window, in.bdpBytes, "BDP");
            ASSERT_NEAR(fast.Decide(in), window, 1e-9 * in.bdpBytes, "shortcut");
            ASSERT_NEAR(lqr.Decide(in), window, 1e-9 * in.bdpBytes, "regulator");
        }
        const MpccCounters& c = fast.Counters();
        EXPECT_EQ(qp.Counters().qp.failures, 0, "qpOASES finished every solve");
        EXPECT_EQ(qp.Counters().qp.solves, 4000, "a solve per decision");
        EXPECT_GT(c.unconstrained, 400, "the property was tried");
        EXPECT_GT(c.saturated, 400, "also at constraints");
        EXPECT_EQ(c.unconstrained + c.saturated + c.qp.solves, c.decisions, "each counted once");
    }
}

/// docs/sources/mpcc.md: a flow has just left.
TEST("a queue above (N - 1) BDP is softened, counted, and gives the least window")
{
    MpccControl control({});
    const double window = control.Decide(Dumbbell(2, 780000, 39000));
    EXPECT_EQ(control.Counters().infeasible, 1, "counted");
    EXPECT_EQ(control.Counters().qp.failures, 0, "qpOASES finished");
    EXPECT_NEAR(window, 3900, 1e-6, "the floor, a tenth of the fair share");
    control.Decide(Dumbbell(2, 0, 3900));
    EXPECT_EQ(control.Counters().infeasible, 1, "feasible again");
}

/// Algorithm 1 and the settled hole of empty queues.
TEST("the state switch is the longest queue, or the least fair share (Algorithm 1)")
{
    const auto hop = [](uint32_t queue, uint32_t flows, double rateBps) -> IntRecord
    { return {0, 0, static_cast<uint64_t>(rateBps), queue, flows}; };

    const PathFacts facts = DumbbellFacts(1080);
    std::vector<IntRecord> hops{hop(1000, 2, 100e9), hop(5000, 7, 100e9), hop(5000, 9, 100e9)};
    StateSwitch s = SelectStateSwitch(hops, facts);
    EXPECT_EQ(s.hop, 1, "the first of the longest");
    EXPECT_EQ(s.queueBytes, 5000, "Q");
    EXPECT_EQ(s.flows, 7, "N");
    EXPECT_NEAR(s.inputDelayNs, 2160 + 80, 1e-9, "waiting before the hop");
    EXPECT_NEAR(s.feedbackDelayNs, 4080 + 400, 1e-9, "waiting behind the hop");

    hops = {hop(9000, 2, 400e9), hop(5000, 7, 100e9), hop(5000, 9, 100e9)};
    EXPECT_EQ(SelectStateSwitch(hops, facts, Bottleneck::LongestQueue).hop, 0, "most bytes");
    EXPECT_EQ(SelectStateSwitch(hops, facts, Bottleneck::LongestDrain).hop, 1, "most time");

    hops = {hop(1080, 1, 400e9), hop(0, 7, 100e9)};
    EXPECT_EQ(SelectStateSwitch(hops, facts, Bottleneck::LongestQueue).hop, 0, "a packet waits");
    EXPECT_EQ(SelectStateSwitch(hops, facts, Bottleneck::LongestDrain).hop, 1, "it is no queue");

    hops = {hop(0, 8, 400e9), hop(0, 3, 100e9), hop(0, 0, 100e9)};
    for (const auto rule : {Bottleneck::LongestQueue, Bottleneck::LongestDrain})
    {
        s = SelectStateSwitch(hops, facts, rule);
        EXPECT_EQ(s.hop, 1, "largest N / R");
        EXPECT_NEAR(s.inputDelayNs, 2160, 1e-9, "no waiting");
    }

    s = SelectStateSwitch(std::span(hops).last(1), facts);
    EXPECT_EQ(s.flows, 1, "at least the flow itself");

    s = SelectStateSwitch({}, facts);
    EXPECT_EQ(s.rateBps, facts.hostRateBps, "no switch: the sender's link");
    EXPECT_EQ(s.flows, 1, "alone");
}

/// N equal flows and one queue, as fluid: each ACK's decision sets the rate W / base RTT, which reaches the
/// queue after the input delay; the queue's length reaches the flows after the feedback delay.
TEST("the loop empties the queue at the fair share, for any number of flows, weight and horizon")
{
    constexpr double BDP = 78000;
    constexpr double STEP_NS = 10;
    constexpr double DRAIN = 100e9 / 8e9; // bytes per ns
    // Zheng 2024, sec. 5.2.1: the weight, sec. 5.2.2: the horizon
    for (const auto& [flows, horizon, weightWindow] : {std::tuple{2, 5, 10.0},
                                                       {4, 5, 10.0},
                                                       {16, 5, 10.0},
                                                       {64, 5, 10.0},
                                                       {256, 5, 10.0},
                                                       {4, 5, 1.0},
                                                       {4, 5, 100.0},
                                                       {4, 3, 10.0},
                                                       {4, 10, 10.0},
                                                       {4, 20, 10.0}})
    {
        MpccControl control({.horizon = horizon, .cost = {.weightWindow = weightWindow}});
        double window = BDP;
        double queue = 0;
        double sinceAck = 0;
        std::deque<double> windows(108, BDP); // 1080 ns to the queue
        std::deque<double> queues(516, -1.0); // 5160 ns back; nothing to report yet
        for (int i = 0; i < 800'000; ++i)     // 8 ms
        {
            windows.push_back(window);
            queue = std::max(queue + STEP_NS * (flows * windows.front() / 6240 - DRAIN), 0.0);
            windows.pop_front();
            queues.push_back(queue);
            const double seen = queues.front();
            queues.pop_front();
            sinceAck += STEP_NS;
            if (seen >= 0 && sinceAck >= 1080 * 6240 / window)
            {
                sinceAck = 0;
                window = control.Decide(Dumbbell(flows, seen, window));
            }
        }
        EXPECT_LT(queue, 0.01 * BDP, "the queue: N = " << flows << ", P = " << horizon);
        EXPECT_NEAR(window, BDP / flows, 0.02 * BDP / flows, "the window: N = " << flows);
    }
}

} // namespace

} // namespace ns3::env::rdma
