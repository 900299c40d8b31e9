// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of networks that are simulated in parts: the same results whatever the parts and the threads.
#include "test-network.h"

#include "ns3_env/cpp/rdma/program/division.h"
#include "ns3_env/cpp/run/attributes.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-parts");

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
    paths.gap = draw(0, 1) == 0 ? NEVER : 2 * US;
    paths.convergence = static_cast<Picos>(draw(0, 3)) * 5 * US;
    for (uint64_t i = draw(0, 4); i > 0; --i)
    {
        const auto rack = static_cast<uint32_t>(hosts + draw(0, RACKS - 1));
        const auto spine = static_cast<uint32_t>(hosts + RACKS + draw(0, spines - 1));
        const auto begin = static_cast<Picos>(draw(1, 60)) * US;
        paths.outages.push_back(
            {rack, spine, begin, begin + static_cast<Picos>(draw(1, 40)) * 500 * NS});
    }
    return paths;
}

/// Adds a task of a job's part, or of no job, and what it waits for.
void
AddTask(DependencySpec& spec,
        Picos start,
        Picos delay,
        int32_t rank,
        int32_t peer,
        bool ofJob,
        const std::vector<uint32_t>& after)
{
    spec.jobs = {"job"};
    spec.parts = {"part"};
    spec.first.resize(std::max<size_t>(spec.first.size(), 1));
    spec.start.push_back(start);
    spec.delay.push_back(delay);
    spec.job.push_back(ofJob ? 0 : -1);
    spec.part.push_back(spec.job.back());
    spec.iteration.push_back(spec.job.back());
    spec.rank.push_back(ofJob ? rank : -1);
    spec.peer.push_back(peer);
    spec.after.insert(spec.after.end(), after.begin(), after.end());
    spec.first.push_back(static_cast<uint32_t>(spec.after.size()));
}

/// Flows that wait for earlier ones, which end anywhere, and for steps: of ranks, which are hosts, or of none.
template <class Draw>
DependencySpec
DrawnDependencies(const Draw& draw, const std::vector<FlowEntry>& flows, uint32_t hosts)
{
    const size_t steps = draw(0, 20);
    const size_t half = flows.size() / 2;
    DependencySpec spec;
    for (size_t task = 0; task < flows.size() + steps; ++task)
    {
        const bool isStep = task >= flows.size();
        const FlowSpec own = isStep ? FlowSpec{} : flows[task].flow;
        const auto rank = static_cast<int32_t>(isStep ? draw(0, hosts - 1) : own.source);
        const auto delay = static_cast<Picos>(draw(0, 3)) * 700 * NS;
        const bool ofJob = !isStep || draw(0, 3) > 0;
        // Steps wait for flows in the first half, flows in the second for those in the first and for steps.
        std::vector<uint32_t> after;
        for (uint64_t i = isStep || task >= half ? draw(0, 3) : 0; i > 0; --i)
        {
            const bool forStep = !isStep && steps > 0 && draw(0, 1) == 0;
            after.push_back(static_cast<uint32_t>(forStep ? flows.size() + draw(0, steps - 1)
                                                          : draw(0, half - 1)));
        }
        const int32_t peer = isStep ? -1 : static_cast<int32_t>(own.destination);
        AddTask(spec, isStep ? 0 : own.start, delay, rank, peer, ofJob, after);
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
    Scenario s = LeafSpine(RACKS, perRack, spines, 25e9);
    s.seed = seed;
    s.timeLimit = 20 * MS;
    for (LinkSpec& link : s.links)
    {
        const bool up = s.isSwitch[link.a];
        link.rateBps = up && draw(0, 1) > 0 ? 100e9 : 25e9;
        link.delay = static_cast<Picos>(up ? draw(1, 4) : 1) * 500 * NS;
    }
    const auto first = draw(0, std::size(CONTROLLERS) - 1);
    s.controllers = {{CONTROLLERS[first], {}},
                     {CONTROLLERS[(first + 1) % std::size(CONTROLLERS)], {}}};
    s.ecn.enabled = true;
    s.buffer.bufferBytes = draw(0, 1) == 0 ? 2'000'000 : 12'000'000;
    s.buffer.pfc = draw(0, 2) > 0;
    s.lossProbability = draw(0, 3) == 0 ? 1e-3 : 0;
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
        AddFlow(s, from, to, draw(1, 200'000), static_cast<Picos>(draw(0, 40)) * US);
        s.flows.back().controller = static_cast<uint32_t>(draw(0, 1));
    }
    if (waits)
    {
        s.dependencies = DrawnDependencies(draw, s.flows, hosts);
    }
    if (draw(0, 1) == 0)
    {
        AddStream(s, 1, hosts - 1, 5e9, 2 * US, 60 * US);
    }
    if (draw(0, 1) == 0)
    {
        s.paths = DrawnPaths(draw, hosts, spines);
    }
    s.congestionPoints.enabled = !s.paths; // feedback uses a flow's only path
    return s;
}

std::string
ResultsOf(Scenario scenario, std::optional<uint32_t> threads)
{
    scenario.threads = threads;
    TestNetwork net(std::move(scenario));
    net->Run();
    return ResultsToJson(*net, net.Recorded());
}

/// On busy cores, each of thousands of barriers lasts until all threads have had their turn.
TEST("results are the same bytes with 1, 2, 3 and 8 parts and threads")
{
    for (uint64_t seed = 1; seed <= 25; ++seed)
    {
        const std::string one = ResultsOf(Drawn(seed), 1);
        for (uint32_t threads : {seed % 5 == 0 ? 8U : 2U, 3U})
        {
            ASSERT(ResultsOf(Drawn(seed), threads) == one, "seed " << seed << ", " << threads);
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
            for (const FlowEntry& entry : net->GetScenario().flows)
            {
                const FlowRecord& record = net.Of(entry.flow.id);
                const Picos end = record.end < 0 ? net->EndTime() : record.end;
                sum += static_cast<double>(end - entry.flow.start) /
                       static_cast<double>(record.standalone);
                ++flows;
            }
        }
        return sum / static_cast<double>(flows);
    };
    const double whole = meanSlowdown({});
    ASSERT_NEAR(meanSlowdown(3), whole, 0.01 * whole, "mean slowdown");
}

/// Four ranks in a rack, or in one each, on a tree of racks under one spine.
Scenario
FourRanks(uint32_t hostsPerRack)
{
    Scenario s = LeafSpine(4 / hostsPerRack, hostsPerRack, 1);
    s.timeLimit = 20 * MS;
    s.controllers[0].name = "hpcc";
    for (uint32_t host = 0; host < 4; ++host)
    {
        s.links[host].rateBps = 25e9;
        s.links[host].delay = 100 * NS;
    }
    return s;
}

/// When each task of a scenario's dependencies is over, with flows' starts behind.
std::vector<Picos>
TimesOf(Scenario scenario, std::optional<uint32_t> threads)
{
    scenario.threads = threads;
    TestNetwork net(std::move(scenario));
    net->Run();
    std::vector<Picos> times;
    const size_t flows = net->GetScenario().flows.size();
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        times.push_back(net->Waiting()->Delivered(flow));
        if (net->GetScenario().dependencies->start.size() > flows)
        {
            times.push_back(net->Waiting()->StepEnd(flow));
        }
        times.push_back(net->GetScenario().flows[flow].flow.start);
    }
    return times;
}

/// The ranks pass a token round; each computes before it sends.
TEST("what waits for something that is over in its rack begins at once, as in a network that is "
     "played as a whole")
{
    constexpr uint32_t TURNS = 12;
    for (uint32_t hostsPerRack : {1U, 2U, 4U})
    {
        Scenario s = FourRanks(hostsPerRack);
        DependencySpec spec;
        for (uint32_t turn = 0; turn < TURNS; ++turn) // a flow waits for its sender's step
        {
            const uint32_t to = (turn + 1) % 4;
            AddFlow(s, turn % 4, to, turn % 3 == 0 ? 60'000 : 100);
            const auto rank = static_cast<int32_t>(turn % 4);
            AddTask(spec, 0, 0, rank, static_cast<int32_t>(to), true, {TURNS + turn});
        }
        for (uint32_t turn = 0; turn < TURNS; ++turn) // a step for the flow before
        {
            const std::vector<uint32_t> before(turn > 0 ? 1 : 0, turn - 1);
            AddTask(spec, 0, 50 * NS, static_cast<int32_t>(turn % 4), -1, true, before);
        }
        s.dependencies = spec;
        const std::vector<Picos> whole = TimesOf(s, {});
        ASSERT(whole.back() > 0, "all steps are over");
        ASSERT(TimesOf(s, 2) == whole, hostsPerRack << " hosts a rack");
    }
}

/// Two flows from one host to another rack, the second after the first.
TEST("news from another rack takes the lookahead")
{
    Scenario s = FourRanks(1);
    AddFlows(s, {{0, 1, 10'000}, {0, 2, 10'000}});
    DependencySpec spec;
    spec.start = spec.delay = {0, 0};
    spec.after = {0};
    spec.first = {0, 0, 1};
    s.dependencies = spec;
    const auto wait = [&](std::optional<uint32_t> threads)
    {
        const std::vector<Picos> times = TimesOf(s, threads);
        return times[3] - times[0]; // the second's start after the first's arrival
    };
    ASSERT_EQ(wait({}), 0, "as a whole");
    ASSERT_EQ(wait(2), US, "in parts");
}

TEST("a network whose switches have no delay between them is played as a whole")
{
    Scenario s = Drawn(1);
    for (LinkSpec& link : s.links)
    {
        link.delay = 0;
    }
    ASSERT(!Divide(s, 2), "nothing may be played ahead");
    ASSERT(ResultsOf(s, 2) == ResultsOf(s, {}), "the same");
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
