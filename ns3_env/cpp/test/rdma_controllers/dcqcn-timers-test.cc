// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of DCQCN's timers, as events and worked off: alike but at their very instants.
#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/dcqcn.h"

#include <algorithm>
#include <random>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

constexpr Picos NS = PS_PER_NS;

/**
 * A packet may leave at the very instant of a cut. A departure that was scheduled before the timer keeps the
 * old rate for its gap; one scheduled after it has the new one. Without events the timer comes first.
 */
class TimerTieTest : public TestCase
{
  public:
    explicit TimerTieTest(bool events)
        : TestCase(events ? "who was scheduled first comes first, DCQCN's timer or the departure"
                          : "without events DCQCN's timer comes first"),
          m_events(events)
    {
    }

  private:
    void DoRun() override
    {
        const PathFacts facts = DumbbellFacts(1048);
        FakeFlow flow(facts);
        Ptr<Dcqcn> dcqcn = CreateObject<Dcqcn>();
        dcqcn->SetAttribute("TimerEvents", BooleanValue(m_events));
        std::vector<double> rates;
        const auto at = [](int64_t ns, auto what) { Simulator::Schedule(Time(ns * NS), what); };
        const auto departs = [&]
        {
            dcqcn->OnPacketSent(flow, NowPicos(), 1048);
            rates.push_back(flow.RateBps());
        };
        const auto marked = [&] { dcqcn->OnAck(flow, {.now = NowPicos(), .ecnMarked = true}); };
        // The check at 5001 ns is scheduled by the first mark, the one at 9001 ns by the one at 5001 ns.
        at(5001, departs);
        at(1000, marked);
        at(1001, [&] { at(4000, departs); }); // 5001 ns
        at(5000, [&] { at(4001, departs); }); // 9001 ns
        at(5002, [&] { at(3999, departs); });
        at(6000, marked);
        at(20'000, [&] { dcqcn->OnFlowEnd(flow, NowPicos()); });
        Simulator::Run();
        Simulator::Destroy();
        NS_TEST_ASSERT_MSG_EQ(rates.size(), 4, "departures");
        NS_TEST_ASSERT_MSG_EQ((rates[0] == facts.hostRateBps), m_events, "before the first cut");
        NS_TEST_ASSERT_MSG_LT(rates[1], facts.hostRateBps, "after the first cut");
        NS_TEST_ASSERT_MSG_EQ((rates[2] == rates[1]), m_events, "before the second cut");
        NS_TEST_ASSERT_MSG_LT(rates[3], rates[1], "after the second cut");
    }

    bool m_events;
};

/// The same controller, whichever way its timers run, where nothing falls on their instants.
class TimerEventsTest : public TestCase
{
  public:
    TimerEventsTest()
        : TestCase("DCQCN's timers cut and raise alike, as events or worked off")
    {
    }

  private:
    static std::vector<double> Rates(bool events)
    {
        const PathFacts facts = DumbbellFacts(1048);
        FakeFlow flow(facts);
        Ptr<Dcqcn> dcqcn = CreateObject<Dcqcn>();
        dcqcn->SetAttribute("TimerEvents", BooleanValue(events));
        std::vector<double> rates;
        std::mt19937 random(11);
        for (int i = 0; i < 2000; ++i)
        {
            const bool marked = i / 200 % 4 == 0 && random() % 3 == 0;
            Simulator::Schedule(Time(i * 1500 * NS + 1 + static_cast<Picos>(random() % 900)),
                                [&flow, &rates, dcqcn, marked]
                                {
                                    dcqcn->OnAck(flow, {.now = NowPicos(), .ecnMarked = marked});
                                    rates.push_back(flow.RateBps());
                                });
        }
        Simulator::Stop(Time(3'100'000 * NS));
        Simulator::Run();
        dcqcn->OnFlowEnd(flow, NowPicos());
        Simulator::Destroy();
        return rates;
    }

    void DoRun() override
    {
        const auto events = Rates(true);
        const auto lazy = Rates(false);
        NS_TEST_ASSERT_MSG_EQ(events.size(), 2000, "ACKs");
        NS_TEST_ASSERT_MSG_LT(*std::min_element(lazy.begin(), lazy.end()), 50e9, "there were cuts");
        NS_TEST_ASSERT_MSG_GT(lazy.back(),
                              *std::min_element(lazy.begin(), lazy.end()),
                              "and raises");
        for (size_t i = 0; i < events.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(events[i], lazy[i], 2.0, "bit/s at ACK " << i);
        }
    }
};

class DcqcnTimersTestSuite : public TestSuite
{
  public:
    DcqcnTimersTestSuite()
        : TestSuite("rdma-dcqcn-timers", Type::UNIT)
    {
        AddTestCase(new TimerTieTest(true), Duration::QUICK);
        AddTestCase(new TimerTieTest(false), Duration::QUICK);
        AddTestCase(new TimerEventsTest, Duration::QUICK);
    }
};

DcqcnTimersTestSuite g_dcqcnTimersTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
