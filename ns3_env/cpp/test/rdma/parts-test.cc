// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of networks that are simulated in parts: the same results whatever the parts and the threads.
#include "test-network.h"

#include "ns3_env/cpp/rdma/program/division.h"
#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-parts");

constexpr Picos NS = PS_PER_NS;
constexpr uint32_t RACKS = 8;
constexpr const char* CONTROLLERS[] =
    {"dcqcn", "dctcp", "hpcc", "hpcc-pint", "nscc", "powertcp", "qcn", "swift", "timely"};

/// A choice among spines for each packet, and links to spines that fail, some of them more than once, or
/// simultaneously.
template <class Draw>
PathSpec
DrawnPaths(const Draw& draw, uint32_t hosts, uint32_t spines)
{
    PathSpec paths;
    paths.balancing = static_cast<Balancing>(draw(0, 3));
    paths.gap = draw(0, 1) == 0 ? NEVER : 2000 * NS;
    paths.convergence = static_cast<Picos>(draw(0, 3)) * 5000 * NS;
    for (uint64_t i = draw(0, 4); i > 0; --i)
    {
        const auto rack = static_cast<uint32_t>(hosts + draw(0, RACKS - 1));
        const auto spine = static_cast<uint32_t>(hosts + RACKS + draw(0, spines - 1));
        const auto begin = static_cast<Picos>(draw(1, 60)) * 1000 * NS;
        paths.outages.push_back(
            {rack, spine, begin, begin + static_cast<Picos>(draw(1, 40)) * 500 * NS});
    }
    return paths;
}

/// Flows that wait for earlier ones, which end anywhere, and for steps: of ranks, which are hosts, or of none.
template <class Draw>
DependencySpec
DrawnDependencies(const Draw& draw, std::vector<FlowEntry>& flows, uint32_t hosts)
{
    const size_t steps = draw(0, 20);
    DependencySpec spec;
    spec.jobs = {"job"};
    spec.parts = {"part"};
    spec.first = {0};
    for (size_t task = 0; task < flows.size() + steps; ++task)
    {
        const bool isStep = task >= flows.size();
        const auto rank = isStep ? static_cast<int32_t>(draw(0, hosts - 1))
                                 : static_cast<int32_t>(flows[task].flow.source);
        spec.start.push_back(isStep ? 0 : flows[task].flow.start);
        spec.delay.push_back(static_cast<Picos>(draw(0, 3)) * 700 * NS);
        spec.job.push_back(isStep && draw(0, 3) == 0 ? -1 : 0);
        spec.part.push_back(spec.job.back());
        spec.iteration.push_back(spec.job.back());
        spec.rank.push_back(spec.job.back() < 0 ? -1 : rank);
        spec.peer.push_back(isStep ? -1 : static_cast<int32_t>(flows[task].flow.destination));
        // Steps wait for flows in the first half, flows in the second for those in the first and for steps.
        const size_t half = flows.size() / 2;
        for (uint64_t i = isStep || task >= half ? draw(0, 3) : 0; i > 0; --i)
        {
            const bool forStep = !isStep && steps > 0 && draw(0, 1) == 0;
            const uint64_t other = forStep ? flows.size() + draw(0, steps - 1) : draw(0, half - 1);
            spec.after.push_back(static_cast<uint32_t>(other));
        }
        spec.first.push_back(static_cast<uint32_t>(spec.after.size()));
    }
    return spec;
}

/// A leaf-spine network of eight racks with rates, delays and flows by lot.
Scenario
Drawn(uint64_t seed)
{
    std::mt19937_64 random(seed);
    const auto draw = [&](uint64_t least, uint64_t most)
    { return std::uniform_int_distribution<uint64_t>(least, most)(random); };
    const auto perRack = static_cast<uint32_t>(draw(2, 5));
    const auto spines = static_cast<uint32_t>(draw(1, 3));
    const uint32_t hosts = RACKS * perRack;
    Scenario s;
    s.seed = seed;
    s.timeLimit = 20'000'000 * NS;
    s.isSwitch.assign(hosts, false);
    s.isSwitch.resize(hosts + RACKS + spines, true);
    for (uint32_t host = 0; host < hosts; ++host)
    {
        s.links.push_back({host, hosts + host / perRack, 25e9, 500 * NS});
    }
    for (uint32_t rack = 0; rack < RACKS; ++rack)
    {
        for (uint32_t spine = 0; spine < spines; ++spine)
        {
            const double rate = draw(0, 1) == 0 ? 25e9 : 100e9;
            const auto delay = static_cast<Picos>(draw(1, 4)) * 500 * NS;
            s.links.push_back({hosts + rack, hosts + RACKS + spine, rate, delay});
        }
    }
    const auto first = draw(0, std::size(CONTROLLERS) - 1);
    for (uint64_t i : {first, (first + 1) % std::size(CONTROLLERS)})
    {
        s.controllers.push_back({CONTROLLERS[i], {}});
    }
    s.ecn.enabled = true;
    s.congestionPoints.enabled = true;
    s.buffer.bufferBytes = draw(0, 1) == 0 ? 2'000'000 : 12'000'000;
    s.buffer.pfc = draw(0, 2) > 0;
    if (draw(0, 3) == 0)
    {
        s.lossProbability = 1e-3;
    }
    if (draw(0, 2) == 0)
    {
        s.selectiveRepeat.emplace();
    }
    const uint64_t flows = draw(20, 60);
    const bool incast = draw(0, 2) == 0;
    const bool waits = draw(0, 1) == 0;
    for (uint64_t i = 0; i < flows; ++i)
    {
        const auto to = incast ? 0 : static_cast<uint32_t>(draw(0, hosts - 1));
        const auto from = static_cast<uint32_t>((to + draw(1, hosts - 1)) % hosts);
        AddFlow(s, from, to, draw(1, 200'000), static_cast<Picos>(draw(0, 40)) * 1000 * NS);
        s.flows.back().controller = static_cast<uint32_t>(draw(0, 1));
    }
    if (waits)
    {
        s.dependencies = DrawnDependencies(draw, s.flows, hosts);
    }
    if (draw(0, 1) == 0)
    {
        const FlowSpec spec{static_cast<uint32_t>(flows),
                            1,
                            hosts - 1,
                            ENDLESS_BYTES,
                            2000 * NS,
                            0};
        s.streams.push_back({spec, 5e9, 60'000 * NS});
    }
    if (draw(0, 1) == 0)
    {
        s.paths = DrawnPaths(draw, hosts, spines);
        s.congestionPoints.enabled = false; // feedback uses a flow's only path
    }
    return s;
}

std::string
Played(Scenario scenario, std::optional<uint32_t> threads)
{
    scenario.threads = threads;
    TestNetwork net(std::move(scenario));
    net->Run();
    return ResultsToJson(*net, net.Recorded());
}

TEST("results are the same bytes with 1, 2, 3 and 8 parts and threads")
{
    for (uint64_t seed = 1; seed <= 25; ++seed)
    {
        const Case about("seed " + std::to_string(seed));
        const std::string one = Played(Drawn(seed), 1);
        for (uint32_t threads : {2U, 3U, 8U})
        {
            ASSERT(Played(Drawn(seed), threads) == one, std::to_string(threads) + " threads");
        }
    }
}

/// Only the order of simultaneous events and random numbers differ.
TEST("a network in parts has the completion times of one that is played as a whole")
{
    const auto meanSlowdown = [](std::optional<uint32_t> threads)
    {
        double sum = 0;
        size_t flows = 0;
        for (uint64_t seed = 1; seed <= 25; ++seed)
        {
            Scenario s = Drawn(seed);
            s.lossProbability = 0; // a packet more or less is a timeout
            if (s.paths)
            {
                s.paths->outages.clear();
                s.selectiveRepeat.emplace(); // and so is one that is late
            }
            s.threads = threads;
            TestNetwork net(std::move(s));
            net->Run();
            for (const FlowRecord& record : net->Records())
            {
                const auto i = static_cast<size_t>(&record - net->Records().data());
                const Picos start = net->GetScenario().flows[i].flow.start;
                const Picos end = record.end < 0 ? net->EndTime() : record.end;
                sum += static_cast<double>(end - start) / static_cast<double>(record.standalone);
                ++flows;
            }
        }
        return sum / static_cast<double>(flows);
    };
    const double whole = meanSlowdown({});
    ASSERT_NEAR(meanSlowdown(3), whole, 0.01 * whole, "mean slowdown");
}

/// Four ranks in a rack, or in one each, pass a token round; each computes before it sends.
Scenario
Ring(uint32_t hostsPerRack)
{
    constexpr uint32_t RANKS = 4;
    constexpr uint32_t TURNS = 12;
    const uint32_t racks = RANKS / hostsPerRack;
    Scenario s;
    s.timeLimit = 20'000'000 * NS;
    s.isSwitch.assign(RANKS, false);
    s.isSwitch.resize(RANKS + racks + 1, true);
    for (uint32_t host = 0; host < RANKS; ++host)
    {
        s.links.push_back({host, RANKS + host / hostsPerRack, 25e9, 100 * NS});
    }
    for (uint32_t rack = 0; rack < racks; ++rack)
    {
        s.links.push_back({RANKS + rack, RANKS + racks, 100e9, 1000 * NS});
    }
    s.controllers.push_back({"hpcc", {}});
    DependencySpec spec;
    spec.first = {0};
    spec.jobs = {"ring"};
    spec.parts = {"token"};
    const auto add = [&spec](int64_t after, Picos delay, uint32_t rank, int32_t peer)
    {
        spec.start.push_back(0);
        spec.delay.push_back(delay);
        if (after >= 0)
        {
            spec.after.push_back(static_cast<uint32_t>(after));
        }
        spec.first.push_back(static_cast<uint32_t>(spec.after.size()));
        spec.job.push_back(0);
        spec.part.push_back(0);
        spec.iteration.push_back(0);
        spec.rank.push_back(static_cast<int32_t>(rank));
        spec.peer.push_back(peer);
    };
    for (uint32_t turn = 0; turn < TURNS; ++turn) // a flow waits for its sender's step
    {
        AddFlow(s, turn % RANKS, (turn + 1) % RANKS, turn % 3 == 0 ? 60'000 : 100, 0);
        add(TURNS + turn, 0, turn % RANKS, static_cast<int32_t>((turn + 1) % RANKS));
    }
    for (uint32_t turn = 0; turn < TURNS; ++turn) // a step for the flow before
    {
        add(static_cast<int64_t>(turn) - 1, 50 * NS, turn % RANKS, -1);
    }
    s.dependencies = spec;
    return s;
}

TEST("what waits for something that is over in its rack begins at once, as in a network that is "
     "played as a whole")
{
    const auto endsOf = [](Scenario scenario, std::optional<uint32_t> threads)
    {
        scenario.threads = threads;
        TestNetwork net(std::move(scenario));
        net->Run();
        std::vector<Picos> ends;
        for (uint32_t flow = 0; flow < net->GetScenario().flows.size(); ++flow)
        {
            ends.push_back(net->Waiting()->Delivered(flow));
            ends.push_back(net->Waiting()->StepEnd(flow));
        }
        return ends;
    };
    for (uint32_t hostsPerRack : {1U, 2U, 4U})
    {
        const std::vector<Picos> whole = endsOf(Ring(hostsPerRack), {});
        ASSERT(whole.back() > 0, "all steps are over");
        ASSERT(endsOf(Ring(hostsPerRack), 2) == whole,
               std::to_string(hostsPerRack) + " hosts a rack");
    }
}

/// Two flows from one host to another rack, the second after the first.
TEST("news from another rack takes the lookahead")
{
    const auto startOf = [](std::optional<uint32_t> threads)
    {
        Scenario s = Ring(1);
        s.flows.clear();
        AddFlow(s, 0, 1, 10'000, 0);
        AddFlow(s, 0, 2, 10'000, 0);
        DependencySpec spec;
        spec.start = spec.delay = {0, 0};
        spec.after = {0};
        spec.first = {0, 0, 1};
        s.dependencies = spec;
        s.threads = threads;
        TestNetwork net(std::move(s));
        net->Run();
        return std::pair(net->Waiting()->Delivered(0), net->GetScenario().flows[1].flow.start);
    };
    ASSERT_EQ(startOf({}).second, startOf({}).first, "as a whole");
    ASSERT_EQ(startOf(2).second, startOf(2).first + 1000 * NS, "in parts");
}

TEST("a network whose switches have no delay between them is played as a whole")
{
    Scenario s = Drawn(1);
    for (LinkSpec& link : s.links)
    {
        link.delay = 0;
    }
    ASSERT(!Divide(s, 2), "nothing may be played ahead");
    ASSERT(Played(s, 2) == Played(s, {}), "the same");
}

TEST("a rack is of one part, and parts have about as many hosts")
{
    const Scenario s = Drawn(3);
    const std::optional<Division> division = Divide(s, 4);
    ASSERT_EQ(division->count, 4, "parts");
    std::vector<size_t> hosts(4, 0);
    for (const LinkSpec& link : s.links)
    {
        if (!s.isSwitch[link.a])
        {
            ASSERT_EQ(division->partOf[link.a], division->partOf[link.b], "a host and its switch");
            ++hosts[division->partOf[link.a]];
        }
    }
    ASSERT_EQ(std::set<size_t>(hosts.begin(), hosts.end()).size(), 1, "two racks each");
}

} // namespace

} // namespace ns3::env::rdma::test
