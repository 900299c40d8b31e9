// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of DCQCN: against one stepped by nanoseconds, its regimes by hand, and its timers' turns.
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/dcqcn.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <random>
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
            if (m_stage > 0)
            {
                m_target = std::min(100 * GBPS, m_target + (m_stage == 1 ? 20e6 : 200e6));
            }
            rate = std::floor(rate / 2) + std::floor(m_target / 2);
            ++m_stage;
            ++increases;
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

    double m_target{100 * GBPS};
    bool m_markedAlpha{false};
    bool m_markedDecrease{true}; // by the first mark
    int m_stage{0};
    int64_t m_increaseAt{-1};
};

/// A flow that a test drives by hand.
struct Driven
{
    template <class... Attributes>
    explicit Driven(Attributes... attributes)
        : dcqcn(CreateObjectWithAttributes<Dcqcn>(attributes...))
    {
        dcqcn->OnFlowStart(flow);
    }

    void Mark(Picos now, bool marked = true)
    {
        dcqcn->OnAck(flow, {.now = now, .ecnMarked = marked});
    }
    void Send(Picos now, uint32_t bytes = 1048) { dcqcn->OnPacketSent(flow, now, bytes); }

    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow{facts};
    Ptr<Dcqcn> dcqcn;
};

/// Timers evaluated when a packet leaves or an ACK arrives give the same result as a timer per microsecond.
TEST("dcqcn: rate and alpha without timers equal those stepped by timers")
{
    constexpr Picos FIRST = 12'345'678; // off every grid
    std::set<int64_t> marks;            // dense, single, absent for milliseconds, dense again
    for (int64_t ns = 500; ns < 200'000; ns += 1000 * (1 + ns % 7))
    {
        marks.insert(ns);
    }
    marks.insert({240'400, 260'000, 264'001, 650'700, 1'800'300, 1'800'600});
    for (int64_t ns = 5'000'350; ns < 5'020'000; ns += 700)
    {
        marks.insert(ns);
    }
    Driven driven;
    StepwiseDcqcn steps;
    driven.Mark(FIRST);
    for (int64_t ns = 1; ns < 8'000'000; ++ns)
    {
        const bool marked = marks.contains(ns);
        steps.Step(ns, marked);
        if (marked)
        {
            driven.Mark(FIRST + ns * NS);
        }
        else if (ns % 1000 == 250)
        {
            driven.Send(FIRST + ns * NS);
        }
        if (marked || ns % 1000 == 250)
        {
            ASSERT_NEAR(driven.flow.RateBps(), steps.rate, 1e-3, "rate at " << ns << " ns");
        }
        if (marked && ns % StepwiseDcqcn::ALPHA_NS != 0)
        {
            ASSERT_NEAR(driven.dcqcn->Alpha(), steps.alpha, 1e-12, "at " << ns << " ns");
        }
    }
    ASSERT_GT(steps.cuts, 20, "the marks cut");
    ASSERT_GT(steps.increases, 15, "the pauses raise");
}

TEST("dcqcn: a window follows the rate where RateWindow asks for it")
{
    Driven driven("RateWindow", BooleanValue(true));
    ASSERT_EQ(driven.flow.WindowBytes(), 78000, "a BDP at line rate");
    driven.Mark(NS);
    driven.Send(5000 * NS);
    const double rate = driven.flow.RateBps();
    ASSERT_LT(rate, 51 * GBPS, "the first cut, by about a half");
    ASSERT_EQ(driven.flow.WindowBytes(), std::floor(78000 * rate / (100 * GBPS)), "as of a BDP");
}

/// Zhu 2015, sec. 3, with F = 2: a step by hand for each regime of the two counters.
TEST("dcqcn: with a byte counter the rate grows fast below F, additively with one counter beyond, "
     "hyper with both")
{
    Driven driven("ByteCounter",
                  DoubleValue(10'480),
                  "FastRecoveryStages",
                  UintegerValue(2),
                  "IncreaseInterval",
                  TimeValue(MicroSeconds(50)),
                  "KeepTarget",
                  BooleanValue(false));
    driven.Mark(NS);
    Picos now = 10'000 * NS;
    driven.Send(now, 0);
    double target = 100 * GBPS;
    double rate = driven.flow.RateBps();
    ASSERT_LT(rate, 51 * GBPS, "the first cut, by about a half");
    const auto grows = [&](double step, const std::string& why)
    {
        target = std::min(100 * GBPS, target + step);
        rate = (rate + target) / 2;
        ASSERT_NEAR(driven.flow.RateBps(), rate, 4, why);
    };
    const auto send = [&](double step, const std::string& why)
    {
        for (int i = 0; i < 10; ++i)
        {
            driven.Send(now);
        }
        grows(step, why);
    };
    send(0, "fast recovery, one of bytes");
    send(0, "fast recovery, two of bytes");
    driven.Mark(now); // the target is the rate as it is
    now += 10'000 * NS;
    driven.Send(now, 0);
    target = rate;
    rate = driven.flow.RateBps();
    ASSERT_LT(rate, target, "a cut");
    send(0, "fast recovery again");
    send(0, "the second");
    send(20e6, "bytes beyond F: additive");
    send(20e6, "bytes alone: still additive");
    for (int i = 0; i < 3; ++i) // three of the timer
    {
        now += 50'000 * NS;
        driven.Send(now, 0);
        grows(20e6, "the timer's, additive while it is not beyond F");
    }
    send(200e6, "both beyond F: hyper");
}

/// The same controller with both kinds of timers, if no event coincides with their instants.
TEST("DCQCN's timers cut and raise alike, as events or worked off")
{
    const auto ratesOf = [](bool events)
    {
        Driven driven("TimerEvents", BooleanValue(events));
        std::vector<double> rates;
        std::mt19937 random(11);
        for (int i = 0; i < 2000; ++i)
        {
            const bool marked = i / 200 % 4 == 0 && random() % 3 == 0;
            const auto ack = [&, marked]
            {
                driven.Mark(NowPicos(), marked);
                rates.push_back(driven.flow.RateBps());
            };
            Simulator::Schedule(Time(i * 1500 * NS + 1 + static_cast<Picos>(random() % 900)), ack);
        }
        Simulator::Stop(Time(3'100'000 * NS));
        Simulator::Run();
        driven.dcqcn->OnFlowEnd(driven.flow, NowPicos());
        Simulator::Destroy();
        return rates;
    };

    const auto events = ratesOf(true);
    const auto lazy = ratesOf(false);
    const double least = std::ranges::min(lazy);
    ASSERT_EQ(events.size(), 2000, "ACKs");
    ASSERT_LT(least, 50e9, "there were cuts");
    ASSERT_GT(lazy.back(), least, "and raises");
    for (size_t i = 0; i < events.size(); ++i)
    {
        ASSERT_NEAR(events[i], lazy[i], 2.0, "bit/s at ACK " << i);
    }
}

} // namespace

} // namespace ns3::env::rdma::test
