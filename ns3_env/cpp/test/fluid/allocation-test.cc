// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a fluid's rates: textbook allocations by hand, and the conditions of max-min fairness.
#include "ns3_env/cpp/fluid/allocation.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

namespace ns3::env
{

namespace
{

SUITE("fluid-allocation");

using env::test::Case;
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

std::vector<double>
MaxMin(const std::vector<double>& capacities, const Routes& routes)
{
    return MaxMinRates(capacities, Pointers(routes));
}

/// Rates by links that they sum up to.
std::vector<double>
Loads(size_t links, const Routes& routes, const std::vector<double>& rates)
{
    std::vector<double> loads(links, 0);
    for (size_t flow = 0; flow < routes.size(); ++flow)
    {
        for (const uint32_t link : routes[flow])
        {
            loads[link] += rates[flow];
        }
    }
    return loads;
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

TEST("flows of one link have equal shares of it")
{
    ExpectRates(MaxMin({3}, {{0}}), {3});
    ExpectRates(MaxMin({3}, {{0}, {0}}), {1.5, 1.5});
    ExpectRates(MaxMin({3}, {{0}, {0}, {0}}), {1, 1, 1});
}

TEST("in a parking lot of equal links the long flow has half of each, as every short one")
{
    ExpectRates(MaxMin({1, 1, 1}, {{0, 1, 2}, {0}, {1}, {2}}), {0.5, 0.5, 0.5, 0.5});
}

TEST("in a parking lot of unequal links the narrowest decides for the long flow alone")
{
    ExpectRates(MaxMin({1, 2, 5}, {{0, 1, 2}, {0}, {1}, {2}}), {0.5, 0.5, 1.5, 4.5});
    // The first link is shared by four flows, one of which also uses the second.
    ExpectRates(MaxMin({1, 1}, {{0}, {0}, {0}, {0, 1}, {1}}), {0.25, 0.25, 0.25, 0.25, 0.75});
}

TEST("links settle one after another, each with what those before it left")
{
    // 0 and 1 share link 0 at 1/2 each; 1 and 2 link 1, whose rest is 3/2; 2 and 3 link 2, whose rest is 5/2.
    ExpectRates(MaxMin({1, 2, 4}, {{0}, {0, 1}, {1, 2}, {2}}), {0.5, 0.5, 1.5, 2.5});
}

TEST("what others have taken whole leaves nothing, and nothing less")
{
    ExpectRates(MaxMin({0, 1}, {{0, 1}, {1}}), {0, 1});
}

TEST("on any network each flow has a full link on which none is faster, and no link more than it "
     "carries")
{
    std::mt19937 random(1);
    for (int network = 0; network < 200; ++network)
    {
        const Case name("network " + std::to_string(network));
        std::vector<double> capacities(12);
        for (double& capacity : capacities)
        {
            capacity = 1 + static_cast<double>(random() % 9);
        }
        Routes routes(1 + random() % 40);
        for (FluidRoute& route : routes)
        {
            FluidRoute links(capacities.size());
            std::iota(links.begin(), links.end(), 0);
            std::shuffle(links.begin(), links.end(), random);
            route.assign(links.begin(), links.begin() + 1 + static_cast<int>(random() % 5));
        }
        const std::vector<double> rates = MaxMin(capacities, routes);
        const std::vector<double> loads = Loads(capacities.size(), routes, rates);
        for (size_t link = 0; link < capacities.size(); ++link)
        {
            EXPECT_LE(loads[link], capacities[link] * (1 + 1e-12), "link " << link);
        }
        for (size_t flow = 0; flow < routes.size(); ++flow)
        {
            const bool bottleneck = std::any_of(
                routes[flow].begin(),
                routes[flow].end(),
                [&](uint32_t link)
                {
                    bool fastest = loads[link] > capacities[link] * (1 - 1e-12);
                    for (size_t other = 0; other < routes.size(); ++other)
                    {
                        const FluidRoute& route = routes[other];
                        const bool there =
                            std::find(route.begin(), route.end(), link) != route.end();
                        fastest = fastest && (!there || rates[other] <= rates[flow] * (1 + 1e-12));
                    }
                    return fastest;
                });
            EXPECT(bottleneck, "flow " << flow);
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

} // namespace ns3::env
