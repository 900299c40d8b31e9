// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of DCQCN's timers, as events and worked off: alike but at their very instants.
#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/dcqcn.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <random>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-dcqcn-timers");

constexpr Picos NS = PS_PER_NS;

/**
 * A packet may leave at the very instant of a cut. A departure that was scheduled before the timer keeps the
 * old rate for its gap; one scheduled after it has the new one. Without events the timer acts first.
 */
void
TimerTie(bool events)
{
    const env::test::Case about(
        events ? "who was scheduled first comes first, DCQCN's timer or the departure"
               : "without events DCQCN's timer comes first");
    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    Ptr<Dcqcn> dcqcn = CreateObject<Dcqcn>();
    dcqcn->SetAttribute("TimerEvents", BooleanValue(events));
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
    ASSERT_EQ(rates.size(), 4, "departures");
    ASSERT_EQ(rates[0] == facts.hostRateBps, events, "before the first cut");
    ASSERT_LT(rates[1], facts.hostRateBps, "after the first cut");
    ASSERT_EQ(rates[2] == rates[1], events, "before the second cut");
    ASSERT_LT(rates[3], rates[1], "after the second cut");
}

/// The same controller with both kinds of timers, if no event coincides with their instants.
TEST("DCQCN's timers cut and raise alike, as events or worked off")
{
    const auto ratesOf = [](bool events)
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
    };

    const auto events = ratesOf(true);
    const auto lazy = ratesOf(false);
    ASSERT_EQ(events.size(), 2000, "ACKs");
    ASSERT_LT(*std::min_element(lazy.begin(), lazy.end()), 50e9, "there were cuts");
    ASSERT_GT(lazy.back(), *std::min_element(lazy.begin(), lazy.end()), "and raises");
    for (size_t i = 0; i < events.size(); ++i)
    {
        ASSERT_NEAR(events[i], lazy[i], 2.0, "bit/s at ACK " << i);
    }
}

TEST("DCQCN's timers take their turn with departures where they are events, and come first where "
     "they are none")
{
    TimerTie(true);
    TimerTie(false);
}

} // namespace

} // namespace ns3::env::rdma::test
