// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of an agent's choice of how it and its simulator wait for each other.
#include "ns3_env/cpp/channel/turn-taking.h"
#include "ns3_env/cpp/test/suite.h"

#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::env::test
{

namespace
{

SUITE("rdma-turns");

/// Duration of a turn in each mode of waiting, of handing over in it, and of the agent's work before it waits, ns.
struct Machine
{
    int64_t adaptiveNs{100'000};
    int64_t spinNs{50'000};
    int64_t shareNs{70'000};
    int64_t spreadNs{40'000};
    int64_t handOverNs{1'000};
    int64_t workNs{5'000};
};

const Machine CROWDED{.spinNs = 600'000};
constexpr int TRIALS = 3 * TurnTaking::TRIAL_TURNS + 20;

/// An agent, and the ways in which it has waited.
struct Agent
{
    explicit Agent(size_t simulators = 1, size_t cores = 2)
        : taking(simulators, cores)
    {
    }

    /// Takes turns and returns the ways of waiting in them.
    std::multiset<Waiting> Play(const Machine& machine, int turns = TRIALS)
    {
        const LivingChannel channel;
        std::multiset<Waiting> ways;
        for (int i = 0; i < turns; ++i)
        {
            taking.Sends(now);
            const Waiting way = taking.Way();
            ways.insert(way);
            taking.HasSent(now + machine.handOverNs);
            taking.BeginsToWait(now + machine.handOverNs + machine.workNs);
            now += way == Waiting::Spin        ? machine.spinNs
                   : way == Waiting::ShareCore ? machine.shareNs
                   : way == Waiting::Spread    ? machine.spreadNs
                                               : machine.adaptiveNs;
            taking.HasAnswer(now);
            now += 10'000;
        }
        return ways;
    }

    /// Checks that all turns are taken in one way.
    void Keeps(Waiting way, const Machine& machine, int turns, const std::string& why)
    {
        EXPECT_EQ(Play(machine, turns).count(way), turns, why);
    }

    TurnTaking taking;
    int64_t now{1};
};

TEST("the way that is worth its cores is kept after the trials")
{
    const Machine slow{.spinNs = 600'000, .shareNs = 120'000};
    for (const auto& [machine, way, why] :
         {std::tuple{Machine{}, Waiting::Spin, "an idle machine, where a spun turn is shorter"},
          {CROWDED, Waiting::ShareCore, "other programs want the cores"},
          {slow, Waiting::Adaptive, "the machine's own way is the best one"},
          {Machine{.spinNs = 68'000}, Waiting::ShareCore, "spinning gains less than a tenth"}})
    {
        Agent agent;
        agent.Play(machine);
        agent.Keeps(way, machine, 500, why);
    }
}

TEST("a machine that becomes crowded is noticed, and trials grow rare while nothing changes")
{
    Agent agent;
    agent.Play({});
    agent.Play(CROWDED, 2 * TurnTaking::FEWEST_BETWEEN);
    ASSERT(agent.taking.Way() == Waiting::ShareCore, "after the next trial");
    ASSERT_LT(agent.Play(CROWDED, 200'000).count(Waiting::Spin), 200'000 / 50, "spun turns");
}

TEST("one reset among many turns changes nothing")
{
    Agent agent;
    agent.Play({});
    for (int i = 0; i < 100; ++i)
    {
        agent.Play({.spinNs = 5'000'000, .shareNs = 5'000'000}, 1);
        agent.Keeps(Waiting::Spin, {}, 3, "still");
    }
}

TEST("long turns, an agent that works before it waits, and several simulators keep every core free "
     "to use")
{
    Agent().Keeps(Waiting::Adaptive, {.adaptiveNs = 2'000'000}, 200, "long turns");
    Agent().Keeps(Waiting::Adaptive, {.workNs = 50'000}, 200, "an agent that works on");
    const LivingChannel second;
    Agent().Keeps(Waiting::Adaptive, {}, 200, "another simulator");
}

TEST("several simulators that take turns together spread over the cores where that is faster, and "
     "share one where others want them")
{
    const LivingChannel second;
    const Machine busy{.handOverNs = 60'000}; // a simulator computes while it is handed its actions
    for (const auto& [machine, cores, way, tried, why] :
         {std::tuple{Machine{}, 2, Waiting::Spread, true, "an idle machine"},
          {Machine{.spreadNs = 600'000}, 2, Waiting::ShareCore, true, "a crowded one"},
          {Machine{}, 1, Waiting::ShareCore, false, "not tried on one core"},
          {busy, 2, Waiting::Spread, true, "that is no agent at work: still in lock-step"}})
    {
        Agent agent(2, static_cast<size_t>(cores));
        const std::multiset<Waiting> ways = agent.Play(machine);
        ASSERT(agent.taking.Way() == way, why);
        ASSERT_EQ(ways.contains(Waiting::Spread), tried, why);
        ASSERT(ways.contains(Waiting::Adaptive) && ways.contains(Waiting::ShareCore), why);
        ASSERT(!ways.contains(Waiting::Spin), why);
    }
}

TEST(
    "spread simulators are dealt to the cores, the agent's first, and one spins on each other core")
{
    const auto place = [](size_t index, int32_t agentCore, Waiting way, int core, const char* why)
    {
        const Place found =
            PlaceOf(Waiting::Spread, index, agentCore, std::vector<int32_t>{0, 2, 5});
        ASSERT(found.way == way && found.core == core, why);
    };
    place(0, 2, Waiting::ShareCore, 2, "the agent's core");
    place(1, 2, Waiting::Spread, 5, "the next");
    place(2, 2, Waiting::Spread, 0, "and round");
    place(3, 2, Waiting::ShareCore, 2, "a second one beside the agent");
    place(4, 2, Waiting::ShareCore, 5, "sleeps beside the one that spins");
    place(1, 7, Waiting::Adaptive, 7, "an agent that was moved elsewhere");
}

} // namespace

} // namespace ns3::env::test
