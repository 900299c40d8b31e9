// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a fluid's rates: textbook allocations by hand, and the conditions of max-min fairness.
#include "ns3_env/cpp/fluid/allocation.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace ns3::env::test
{

namespace
{

SUITE("fluid-allocation");

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
