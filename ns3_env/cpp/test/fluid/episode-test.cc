// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of fluids: how links are divided; rates, completion times and bytes by hand.
#include "ns3/simulator.h"
#include "ns3_env/cpp/fluid/allocation.h"
#include "ns3_env/cpp/fluid/fluid-episode.h"
#include "ns3_env/cpp/rdma/program/fluid-paths.h"
#include "ns3_env/cpp/test/scenarios.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env::test
{

namespace
{

SUITE("fluid-episode");

constexpr double RATE = 100e9;
constexpr uint64_t MB = 1'000'000;
constexpr double PAYLOAD_SHARE = 1000.0 / 1048;

/// Time in which a link of RATE carries these payload bytes.
double
TimeOf(double bytes)
{
    return bytes * 8 / (RATE * PAYLOAD_SHARE) * PS_PER_SECOND;
}

/// A flow's rate from a time on.
struct Step
{
    Picos time;
    uint32_t flow;
    double rateBps;
};

/// An episode in a separate simulation, run to its end.
class Run
{
  public:
    explicit Run(Scenario scenario, Sharing sharing = Sharing::MaxMin)
        : m_episode(std::make_unique<FluidEpisode>(
              std::move(scenario),
              sharing,
              [](const Scenario& own) { return std::make_unique<rdma::FluidPaths>(own); },
              [](Flow&, const FlowEntry&) {}))
    {
        m_episode->TraceWindowAndRate(Callback<void, const FlowState&, Picos>(
            [this](const FlowState& flow, Picos now)
            { m_steps.push_back({now, flow.Id(), flow.RateBps()}); }));
        m_episode->Run();
    }
    ~Run()
    {
        m_episode.reset();
        Simulator::Destroy();
    }
    Run(Run&&) = delete;

    FluidEpisode* operator->() { return m_episode.get(); }
    const FlowRecord& Of(size_t flow) const { return m_episode->Records()[flow]; }

    /// Checks how long after its standalone end each flow ends.
    void Late(const std::vector<double>& late, double tolerance = 1) const
    {
        for (size_t i = 0; i < late.size(); ++i)
        {
            const Picos start = m_episode->GetScenario().flows[i].flow.start;
            EXPECT_NEAR(Of(i).end - start - Of(i).standalone, late[i], tolerance, "flow " << i);
        }
    }

    /// Checks flows' rates at `time`, by their steps up to then, in units of RATE.
    void Rates(Picos time, const std::vector<double>& rates) const
    {
        for (uint32_t flow = 0; flow < rates.size(); ++flow)
        {
            double rate = -1;
            for (const Step& step : m_steps)
            {
                rate = step.flow == flow && step.time <= time ? step.rateBps : rate;
            }
            EXPECT_NEAR(rate, rates[flow] * RATE, 1, "flow " << flow << " at " << time);
        }
    }

  private:
    std::unique_ptr<FluidEpisode> m_episode;
    std::vector<Step> m_steps;
};

/// A dumbbell that ends at a time.
Scenario
Until(Picos timeLimit, uint32_t senders, const std::vector<FlowRow>& flows)
{
    Scenario s = Exact(senders, flows);
    s.timeLimit = timeLimit;
    return s;
}

TEST("a flow alone ends exactly at its standalone time, whatever its size")
{
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{999}, uint64_t{1001}, 7 * MB + 13, 400 * MB})
    {
        const Run run(Exact(1, {{0, 1, bytes, 17}}));
        run.Late({0}, 0);
        EXPECT_EQ(run.Of(0).ackedBytes, bytes, "acknowledged");
    }
}

TEST("rates change at an arrival: the first flow alone, both at half, the second alone")
{
    constexpr Picos LATER = 30 * US;
    const Run run(Exact(2, {{0, 2, MB}, {1, 2, MB, LATER}}));
    // At the arrival the first has MB - x to go, which takes twice as long as without the other; the second then has x
    // to go.
    run.Late({TimeOf(MB) - LATER, TimeOf(MB) - LATER});
    run.Rates(LATER - 1, {1});
    run.Rates(LATER, {0.5});
}

/// Switches in a row with a host at the beginning, one at the end and two at each: from host 0 to 1 across all, and
/// across each link, at a multiple of RATE, between two hosts at its ends.
TEST("a parking lot of unequal links gives each flow what the rest leaves")
{
    const std::vector<double> rates{1, 2, 5};
    Scenario s = NetworkOf(8,
                           4,
                           {{0, 8}, {1, 11}, {2, 8}, {3, 9}, {4, 9}, {5, 10}, {6, 10}, {7, 11}},
                           10 * RATE);
    AddFlow(s, 0, 1, MB);
    for (uint32_t i = 0; i < rates.size(); ++i)
    {
        s.links.push_back({8 + i, 9 + i, rates[i] * RATE, US});
        AddFlow(s, 2 + 2 * i, 3 + 2 * i, MB);
    }
    Run(std::move(s)).Rates(1, {0.5, 0.5, 1.5, 4.5});
}

TEST("least remaining first: a newcomer waits for who has less left, and goes before who has more")
{
    const auto half = static_cast<Picos>(TimeOf(MB)); // of the first, which has 1 MB left then
    const Run run(Exact(3, {{0, 3, 2 * MB}, {1, 3, MB / 2, half}, {2, 3, 3 * MB / 2, half}}),
                  Sharing::LeastRemaining);
    run.Late({TimeOf(MB / 2), 0, TimeOf(3 * MB / 2)}, 2);
}

TEST("least remaining first: a flow that comes to have less left than another takes its place")
{
    // Flow 2's own link has 0.9 of the rate of the other links: flow 0 has 0.1 of the link that they share, and flow 1
    // 0.9 of the next.
    Scenario s =
        NetworkOf(6, 3, {{0, 6}, {1, 8}, {2, 7}, {3, 8}, {4, 6}, {5, 7}, {6, 7}, {7, 8}}, RATE);
    s.links[4].rateBps = 0.9 * RATE;
    AddFlows(s, {{0, 1, 20 * MB}, {2, 3, 30 * MB}, {4, 5, 19 * MB}});
    const Run run(std::move(s), Sharing::LeastRemaining);
    const auto crossing = static_cast<Picos>(TimeOf(12.5 * MB)); // 30 - 0.9 x = 20 - 0.1 x
    run.Rates(crossing - 10, {0.1, 0.9});
    run.Rates(crossing + 10, {0, 1});
}

TEST("endless flows have their rates until the time limit, and what they have carried")
{
    for (const Sharing sharing : {Sharing::MaxMin, Sharing::LeastRemaining})
    {
        Run run(Until(100 * US, 2, {{0, 2, ENDLESS_BYTES}, {1, 2, ENDLESS_BYTES}}), sharing);
        const double carried = 100 * US / TimeOf(1);
        const double first = sharing == Sharing::MaxMin ? carried / 2 : carried;
        EXPECT_NEAR(run.Of(0).ackedBytes, first, 1, "the first");
        EXPECT_NEAR(run.Of(1).ackedBytes, carried - first, 1, "the second");
        EXPECT_EQ(run.Of(0).end, -1, "no end");
    }
}

TEST("a stream takes its rate of a link first, while it is on")
{
    Scenario s = Until(400 * US, 2, {{0, 2, ENDLESS_BYTES}});
    AddStream(s, 1, 2, 0.3 * RATE, 100 * US, 200 * US);
    Run run(std::move(s));
    run.Rates(100 * US - 1, {1});
    run.Rates(100 * US, {0.7});
    run.Rates(200 * US, {1});
    const double each = 100 * US / TimeOf(1); // of 100 us
    const uint64_t received = run->CountsOf(0).received;
    EXPECT_NEAR(received, 0.3 * each, 1, "the stream");
    EXPECT_NEAR(run.Of(0).ackedBytes, 3.7 * each, 1, "the flow");
    EXPECT_EQ(run->Totals().deliveredPayload, run.Of(0).ackedBytes + received, "delivered");
}

TEST("a link whose rate changes is divided at the rate of each step, also of those that repeat")
{
    Scenario s = Until(400 * US, 2, {{0, 2, ENDLESS_BYTES}, {1, 2, ENDLESS_BYTES}});
    const std::vector<LinkStep> steps{{0, RATE, US}, {100 * US, 0, US}, {150 * US, RATE / 4, US}};
    s.schedules.insert_or_assign({3, 4}, LinkSchedule(steps, 200 * US)); // between the switches
    Run run(std::move(s));
    run.Rates(100 * US - 1, {0.5, 0.5});
    run.Rates(100 * US, {0, 0});
    run.Rates(150 * US, {0.125, 0.125});
    run.Rates(200 * US, {0.5, 0.5});
    const double each = 100 * US / TimeOf(1);
    EXPECT_NEAR(run.Of(0).ackedBytes, 2 * 0.5 * (1 + 0.125) * each, 2, "the flow");
}

TEST("a flow comes to a changing link after the way to it, and goes on from there as its packets "
     "would")
{
    const auto change = static_cast<Picos>(TimeOf(MB) / 2);
    Scenario s = Exact(1, {{0, 1, MB}});
    s.schedules.insert_or_assign({2, 3},
                                 LinkSchedule({{0, RATE, US}, {change, RATE / 2, US}}, NEVER));
    // After a link of 1 us, and a packet's transmission there, it has passed for change - 1 us; the rest takes twice as
    // long.
    Run(std::move(s)).Late({TimeOf(MB) - (change - US - TimeOf(1000))}, 2);
}

TEST("streams that exceed a link have all of it, in proportion, and leave flows nothing")
{
    Scenario s = Until(100 * US, 3, {{0, 3, MB}});
    AddStream(s, 1, 3, RATE);
    AddStream(s, 2, 3, RATE / 2);
    Run run(std::move(s));
    const double all = 100 * US / TimeOf(1);
    EXPECT_EQ(run.Of(0).ackedBytes, 0, "the flow");
    EXPECT_NEAR(run->CountsOf(0).received, all * 2 / 3, 1, "the faster stream");
    EXPECT_NEAR(run->CountsOf(1).received, all / 3, 1, "the other");
}

TEST("some flows under a fluid and others under a controller of packets are refused")
{
    const Fluids fluids{{"max_min", Sharing::MaxMin}};
    Scenario s = Exact(2, {{0, 2, MB}, {1, 2, MB}});
    EXPECT(!SharingOf(s, fluids), "none of them");
    s.controllers = {{"max_min", {}}, {"hpcc", {}}};
    EXPECT(SharingOf(s, fluids) == Sharing::MaxMin, "all of them");
    s.flows[1].controller = 1;
    EXPECT_EQ(Refusal([&] { SharingOf(s, fluids); }),
              "'controllers': 'max_min' is a reference without packets: all flows are under it or "
              "none, and some are under 'hpcc'",
              "both");
}

using Routes = std::vector<FluidRoute>;

FluidRoutes
Pointers(const Routes& routes)
{
    FluidRoutes pointers;
    for (const FluidRoute& route : routes)
    {
        pointers.push_back(&route);
    }
    return pointers;
}

void
ExpectRates(const std::vector<double>& rates, const std::vector<double>& wanted)
{
    ASSERT_EQ(rates.size(), wanted.size(), "a rate for each flow");
    for (size_t flow = 0; flow < rates.size(); ++flow)
    {
        EXPECT_NEAR(rates[flow], wanted[flow], 1e-12, "flow " << flow);
    }
}

TEST("links settle one after another, each with what those before it left")
{
    struct Network
    {
        const char* what;
        std::vector<double> capacities;
        Routes routes;
        std::vector<double> rates;
    };
    for (
        const Network& network : std::vector<Network>{
            {"one flow has its link", {3}, {{0}}, {3}},
            {"equal shares of two", {3}, {{0}, {0}}, {1.5, 1.5}},
            {"equal shares of three", {3}, {{0}, {0}, {0}}, {1, 1, 1}},
            {"parking lot", {1, 1, 1}, {{0, 1, 2}, {0}, {1}, {2}}, {0.5, 0.5, 0.5, 0.5}},
            {"of unequal links", {1, 2, 5}, {{0, 1, 2}, {0}, {1}, {2}}, {0.5, 0.5, 1.5, 4.5}},
            {"four share the first link",
             {1, 1},
             {{0}, {0}, {0}, {0, 1}, {1}},
             {0.25, 0.25, 0.25, 0.25, 0.75}},
            // 0 and 1 share link 0 at 1/2 each; 1 and 2 link 1, whose rest is 3/2; 2 and 3 link 2, whose rest is 5/2.
            {"a chain", {1, 2, 4}, {{0}, {0, 1}, {1, 2}, {2}}, {0.5, 0.5, 1.5, 2.5}},
            {"nothing left, and nothing less", {0, 1}, {{0, 1}, {1}}, {0, 1}}})
    {
        const Case about(network.what);
        ExpectRates(MaxMinRates(network.capacities, Pointers(network.routes)), network.rates);
    }
}

TEST("on any network each flow has a full link on which none is faster, and no link more than it "
     "carries")
{
    std::mt19937 random(1);
    for (int network = 0; network < 200; ++network)
    {
        const Case name("network " + std::to_string(network));
        std::vector<double> capacities(12);
        std::ranges::generate(capacities, [&] { return 1 + static_cast<double>(random() % 9); });
        Routes routes(1 + random() % 40);
        for (FluidRoute& route : routes)
        {
            route = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
            std::ranges::shuffle(route, random);
            route.resize(1 + random() % 5);
        }
        const std::vector<double> rates = MaxMinRates(capacities, Pointers(routes));
        std::vector<double> loads(capacities.size(), 0);
        std::vector<double> fastest(capacities.size(), 0);
        for (size_t flow = 0; flow < routes.size(); ++flow)
        {
            for (const uint32_t link : routes[flow])
            {
                loads[link] += rates[flow];
                fastest[link] = std::max(fastest[link], rates[flow]);
            }
        }
        for (size_t link = 0; link < capacities.size(); ++link)
        {
            EXPECT_LE(loads[link], capacities[link] * (1 + 1e-12), "link " << link);
        }
        for (size_t flow = 0; flow < routes.size(); ++flow)
        {
            const auto isBottleneck = [&](uint32_t link)
            {
                return loads[link] > capacities[link] * (1 - 1e-12) &&
                       fastest[link] <= rates[flow] * (1 + 1e-12);
            };
            EXPECT(std::ranges::any_of(routes[flow], isBottleneck), "flow " << flow);
        }
    }
}

TEST("by priority each flow has what those before it left on its whole route")
{
    const Routes routes{{0, 1}, {1, 2}, {2}, {0}};
    ExpectRates(PriorityRates({3, 2, 5}, Pointers(routes)), {2, 0, 5, 1});
}

TEST("flows overtake each other where they share a link, and nowhere else")
{
    // 2 - 0.1 t and 3 - 0.9 t are equal at 1.25.
    const Routes shared{{0}, {0, 1}, {1}};
    const std::vector<double> left{1.9, 2, 3};
    const std::vector<double> speeds{0.9, 0.1, 0.9};
    EXPECT_NEAR(TimeToOvertaking(2, Pointers(shared), left, speeds), 1.25, 1e-12, "on link 1");
    const Routes apart{{0}, {0, 1}, {2}};
    EXPECT(std::isinf(TimeToOvertaking(3, Pointers(apart), left, speeds)), "no common link");
    const Routes one{{0}, {0}};
    EXPECT(std::isinf(TimeToOvertaking(1, Pointers(one), {1, 2}, {1, 0})), "the later one waits");
    EXPECT(std::isinf(TimeToOvertaking(1, Pointers(one), {1, INFINITY}, {1, 2})), "endless");
}

} // namespace

} // namespace ns3::env::test
