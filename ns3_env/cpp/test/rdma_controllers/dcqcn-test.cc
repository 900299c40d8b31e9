// SPDX-License-Identifier: GPL-2.0-or-later
// Test of DCQCN without timers against one that is stepped by nanoseconds.
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/dcqcn.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-dcqcn");

constexpr double GBPS = 1e9;
constexpr Picos NS = PS_PER_NS;

/// DCQCN with a timer for everything, one nanosecond after the other.
class StepwiseDcqcn
{
  public:
    static constexpr int64_t ALPHA_NS = 1000;
    static constexpr int64_t DECREASE_NS = 4000;
    static constexpr int64_t INCREASE_NS = 300'000;

    /// `ns` counts from the first mark; order of events at one time as in docs/sources/published-simulator.md, "Controllers".
    void Step(int64_t ns, bool marked)
    {
        m_markedAlpha |= marked; // a mark at the instant of alpha's step counts in it
        if (ns % ALPHA_NS == 0)
        {
            alpha = alpha * (1 - GAIN) + (m_markedAlpha ? GAIN : 0.0);
            m_markedAlpha = false;
        }
        if (ns == m_increaseAt)
        {
            Increase();
            m_increaseAt = ns + INCREASE_NS;
        }
        if (ns > 1 && ns % DECREASE_NS == 1 && m_markedDecrease)
        {
            m_target = m_stage > 0 ? rate : m_target;
            rate = std::max(1 * GBPS, std::floor(rate * (1 - alpha / 2)));
            m_stage = 0;
            m_markedDecrease = false;
            m_increaseAt = ns + INCREASE_NS;
            ++cuts;
        }
        m_markedDecrease |= marked; // one at the instant of a check waits for the next
    }

    double alpha{1.0};
    double rate{100 * GBPS};
    int cuts{0};
    int increases{0};

  private:
    static constexpr double GAIN = 1.0 / 256;

    void Increase()
    {
        if (m_stage > 0)
        {
            m_target = std::min(100 * GBPS, m_target + (m_stage == 1 ? 20e6 : 200e6));
        }
        rate = std::floor(rate / 2) + std::floor(m_target / 2);
        ++m_stage;
        ++increases;
    }

    double m_target{100 * GBPS};
    bool m_markedAlpha{false};
    bool m_markedDecrease{true}; // by the first mark
    int m_stage{0};
    int64_t m_increaseAt{-1};
};

/// Timers evaluated when a packet leaves or an ACK arrives give the same result as a timer per microsecond.
TEST("dcqcn: rate and alpha without timers equal those stepped by timers")
{
    constexpr Picos FIRST = 12'345'678; // off every grid
    constexpr int64_t END_NS = 8'000'000;
    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    auto controller = CreateObject<Dcqcn>();
    controller->OnFlowStart(flow);
    std::set<int64_t> marks; // dense, single, absent for milliseconds, dense again
    for (int64_t ns = 500; ns < 200'000; ns += 1000 * (1 + ns % 7))
    {
        marks.insert(ns);
    }
    marks.insert({240'400, 260'000, 264'001, 650'700, 1'800'300, 1'800'600});
    for (int64_t ns = 5'000'350; ns < 5'020'000; ns += 700)
    {
        marks.insert(ns);
    }
    StepwiseDcqcn steps;
    controller->OnAck(flow, {.now = FIRST, .ecnMarked = true});
    for (int64_t ns = 1; ns < END_NS; ++ns)
    {
        const bool marked = marks.contains(ns);
        steps.Step(ns, marked);
        if (marked)
        {
            controller->OnAck(flow, {.now = FIRST + ns * NS, .ecnMarked = true});
        }
        else if (ns % 1000 == 250)
        {
            controller->OnPacketSent(flow, FIRST + ns * NS, 1048);
        }
        else
        {
            continue;
        }
        ASSERT_NEAR(flow.RateBps(), steps.rate, 1e-3, "rate at " << ns << " ns");
        if (marked && ns % StepwiseDcqcn::ALPHA_NS != 0)
        {
            ASSERT_NEAR(controller->Alpha(), steps.alpha, 1e-12, "at " << ns << " ns");
        }
    }
    ASSERT_GT(steps.cuts, 20, "the marks cut");
    ASSERT_GT(steps.increases, 15, "the pauses raise");
}

TEST("dcqcn: a window follows the rate where RateWindow asks for it")
{
    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    auto controller = CreateObjectWithAttributes<Dcqcn>("RateWindow", BooleanValue(true));
    controller->OnFlowStart(flow);
    ASSERT_EQ(flow.WindowBytes(), 78000, "a BDP at line rate");
    controller->OnAck(flow, {.now = NS, .ecnMarked = true});
    controller->OnPacketSent(flow, 5000 * NS, 1048);
    ASSERT_LT(flow.RateBps(), 51 * GBPS, "the first cut, by about a half");
    ASSERT_EQ(flow.WindowBytes(), std::floor(78000 * flow.RateBps() / (100 * GBPS)), "as of a BDP");
}

/// Zhu 2015, sec. 3, with F = 2: a step by hand for each regime of the two counters.
TEST("dcqcn: with a byte counter the rate grows fast below F, additively with one counter beyond, "
     "hyper with both")
{
    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    auto controller = CreateObjectWithAttributes<Dcqcn>("ByteCounter",
                                                        DoubleValue(10'480),
                                                        "FastRecoveryStages",
                                                        UintegerValue(2),
                                                        "IncreaseInterval",
                                                        TimeValue(MicroSeconds(50)),
                                                        "KeepTarget",
                                                        BooleanValue(false));
    controller->OnFlowStart(flow);
    controller->OnAck(flow, {.now = NS, .ecnMarked = true});
    Picos now = 10'000 * NS;
    controller->OnPacketSent(flow, now, 0);
    const double cut = flow.RateBps();
    double target = 100 * GBPS;
    double rate = cut;
    ASSERT_LT(rate, 51 * GBPS, "the first cut, by about a half");
    const auto send = [&](const std::string& why, double step)
    {
        for (int i = 0; i < 10; ++i)
        {
            controller->OnPacketSent(flow, now, 1048);
        }
        target = std::min(100 * GBPS, target + step);
        rate = (rate + target) / 2;
        ASSERT_NEAR(flow.RateBps(), rate, 2, why);
    };
    send("fast recovery, one of bytes", 0);
    send("fast recovery, two of bytes", 0);
    controller->OnAck(flow, {.now = now, .ecnMarked = true}); // the target is the rate as it is
    now += 10'000 * NS;
    controller->OnPacketSent(flow, now, 0);
    target = rate;
    rate = flow.RateBps();
    ASSERT_LT(rate, target, "a cut");
    send("fast recovery again", 0);
    send("the second", 0);
    send("bytes beyond F: additive", 20e6);
    send("bytes alone: still additive", 20e6);
    for (int i = 0; i < 3; ++i) // three of the timer
    {
        now += 50'000 * NS;
        controller->OnPacketSent(flow, now, 0);
        target += 20e6;
        rate = (rate + target) / 2;
        ASSERT_NEAR(flow.RateBps(), rate, 4, "the timer's, additive while it is not beyond F");
    }
    send("both beyond F: hyper", 200e6);
}

} // namespace

} // namespace ns3::env::rdma::test
