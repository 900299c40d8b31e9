// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of an agent's choice of how it and its simulator wait for each other.
#include "ns3_env/cpp/channel/turn-taking.h"
#include "ns3_env/cpp/test/suite.h"

#include <functional>
#include <set>
#include <utility>
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

/// Takes `turns` turns and calls `each` with the waiting mode of each.
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
        taking.HasSent(nowNs + machine.handOverNs);
        taking.BeginsToWait(nowNs + machine.handOverNs + machine.workNs);
        nowNs += way == Waiting::Spin        ? machine.spinNs
                 : way == Waiting::ShareCore ? machine.shareNs
                 : way == Waiting::Spread    ? machine.spreadNs
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

/// Final mode of waiting of two simulators in one group; `tried` collects every mode that they tried.
Waiting
OfTwo(const Machine& machine, size_t cores, std::set<Waiting>& tried)
{
    const LivingChannel second;
    TurnTaking taking(2, cores);
    int64_t now = 1;
    Play(taking, now, machine, TRIALS, [&](Waiting way) { tried.insert(way); });
    return taking.Way();
}

TEST("several simulators that take turns together spread over the cores where that is faster, and "
     "share one where others want them")
{
    std::set<Waiting> tried;
    ASSERT(OfTwo({}, 2, tried) == Waiting::Spread, "an idle machine");
    ASSERT((tried == std::set{Waiting::Adaptive, Waiting::ShareCore, Waiting::Spread}), "all");
    ASSERT(OfTwo({.spreadNs = 600'000}, 2, tried) == Waiting::ShareCore, "a crowded one");
    tried.clear();
    ASSERT(OfTwo({}, 1, tried) == Waiting::ShareCore, "one core");
    ASSERT(!tried.contains(Waiting::Spread), "not tried on one core");
}

TEST("a simulator that computes on the agent's core while it is handed its actions is no agent at "
     "work")
{
    std::set<Waiting> tried;
    ASSERT(OfTwo({.handOverNs = 60'000}, 2, tried) == Waiting::Spread, "still in lock-step");
}

TEST(
    "spread simulators are dealt to the cores, the agent's first, and one spins on each other core")
{
    const std::vector<int32_t> cores{0, 2, 5};
    const auto place = [&](size_t index, int32_t agentCore)
    {
        const Place found = PlaceOf(Waiting::Spread, index, agentCore, cores);
        return std::pair{found.way, found.core};
    };
    ASSERT(place(0, 2) == std::pair(Waiting::ShareCore, 2), "the agent's core");
    ASSERT(place(1, 2) == std::pair(Waiting::Spread, 5), "the next");
    ASSERT(place(2, 2) == std::pair(Waiting::Spread, 0), "and round");
    ASSERT(place(3, 2) == std::pair(Waiting::ShareCore, 2), "a second one beside the agent");
    ASSERT(place(4, 2) == std::pair(Waiting::ShareCore, 5), "sleeps beside the one that spins");
    ASSERT(place(1, 7) == std::pair(Waiting::Adaptive, 7), "an agent that was moved elsewhere");
}

} // namespace

} // namespace ns3::env::test
