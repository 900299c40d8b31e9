// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of how an agent chooses the way in which it and its simulator wait for each other.
#include "ns3_env/cpp/channel/turn-taking.h"
#include "ns3_env/cpp/test/suite.h"

#include <functional>
#include <set>

namespace ns3::env::test
{

namespace
{

SUITE("rdma-turns");

/// What a turn takes under a way of waiting, and how long the agent works before it waits, ns.
struct Machine
{
    int64_t adaptiveNs{100'000};
    int64_t spinNs{50'000};
    int64_t shareNs{70'000};
    int64_t workNs{5'000};
};

/// Plays `turns` turns and calls `each` with the way of each of them.
void
Play(
    TurnTaking& taking,
    int64_t& nowNs,
    const Machine& machine,
    int turns,
    const std::function<void(Waiting)>& each = [](Waiting) {})
{
    const LivingChannel channel;
    for (int i = 0; i < turns; ++i)
    {
        taking.Sends(nowNs);
        const Waiting way = taking.Way();
        each(way);
        taking.BeginsToWait(nowNs + machine.workNs);
        nowNs += way == Waiting::Spin        ? machine.spinNs
                 : way == Waiting::ShareCore ? machine.shareNs
                                             : machine.adaptiveNs;
        taking.HasAnswer(nowNs);
        nowNs += 10'000;
    }
}

constexpr int TRIALS = 3 * TurnTaking::TRIAL_TURNS + 20;

TEST("on an idle machine, where a spun turn is the shorter one, both spin")
{
    TurnTaking taking;
    int64_t now = 1;
    Play(taking, now, {}, TRIALS);
    Play(taking,
         now,
         {},
         500,
         [](Waiting way) { ASSERT(way == Waiting::Spin, "after the trials"); });
}

TEST("where other programs want the cores, both share one")
{
    TurnTaking taking;
    int64_t now = 1;
    const Machine crowded{.spinNs = 600'000};
    Play(taking, now, crowded, TRIALS);
    Play(taking,
         now,
         crowded,
         500,
         [](Waiting way) { ASSERT(way == Waiting::ShareCore, "after the trials"); });
}

TEST("where the machine's own way is the best one, it is left to it")
{
    TurnTaking taking;
    int64_t now = 1;
    const Machine full{.spinNs = 600'000, .shareNs = 120'000};
    Play(taking, now, full, TRIALS);
    ASSERT(taking.Way() == Waiting::Adaptive, "no core is shared");
}

TEST("spinning that gains less than a tenth is not worth a second core")
{
    TurnTaking taking;
    int64_t now = 1;
    const Machine equal{.spinNs = 68'000};
    Play(taking, now, equal, TRIALS);
    ASSERT(taking.Way() == Waiting::ShareCore, "the cheaper one");
}

TEST("a machine that becomes crowded is noticed, and trials grow rare while nothing changes")
{
    TurnTaking taking;
    int64_t now = 1;
    Play(taking, now, {}, TRIALS);
    const Machine crowded{.spinNs = 600'000};
    int spun = 0;
    Play(taking,
         now,
         crowded,
         2 * TurnTaking::FEWEST_BETWEEN,
         [&](Waiting way) { spun += way == Waiting::Spin; });
    ASSERT(taking.Way() == Waiting::ShareCore, "after the next trial");
    spun = 0;
    Play(taking, now, crowded, 200'000, [&](Waiting way) { spun += way == Waiting::Spin; });
    ASSERT_LT(spun, 200'000 / 50, "spun turns of a crowded machine");
}

TEST("one reset among many turns changes nothing")
{
    TurnTaking taking;
    int64_t now = 1;
    Play(taking, now, {}, TRIALS);
    const Machine reset{.spinNs = 5'000'000, .shareNs = 5'000'000};
    for (int i = 0; i < 100; ++i)
    {
        Play(taking, now, reset, 1);
        Play(taking, now, {}, 3, [](Waiting way) { ASSERT(way == Waiting::Spin, "still"); });
    }
}

TEST("long turns, an agent that works before it waits, and several simulators keep every core free "
     "to use")
{
    const auto other = [](const Machine& machine)
    {
        TurnTaking taking;
        int64_t now = 1;
        std::set<Waiting> ways;
        Play(taking, now, machine, 200, [&](Waiting way) { ways.insert(way); });
        return ways == std::set{Waiting::Adaptive};
    };
    ASSERT(other({.adaptiveNs = 2'000'000}), "long turns");
    ASSERT(other({.workNs = 50'000}), "an agent that works on");
    const LivingChannel second;
    ASSERT(other({}), "another simulator");
}

TEST("several simulators that take turns together share the agent's core where that is faster, and "
     "never spin")
{
    const LivingChannel second;
    TurnTaking taking(2);
    int64_t now = 1;
    std::set<Waiting> ways;
    Play(taking, now, {}, TRIALS, [&](Waiting way) { ways.insert(way); });
    ASSERT((ways == std::set{Waiting::Adaptive, Waiting::ShareCore}), "both were tried");
    ASSERT(taking.Way() == Waiting::ShareCore, "the faster one here");
}

} // namespace

} // namespace ns3::env::test
