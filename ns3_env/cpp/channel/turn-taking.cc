// SPDX-License-Identifier: GPL-2.0-or-later
// How two processes that take short turns wait for each other: spinning, or asleep on one core.
#include "turn-taking.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

// An agent that works on after it has sent wants the other core for the simulator.
constexpr int64_t AT_ONCE_NS = 30'000;
// In longer turns a wake-up across cores (about 45 us) hardly counts.
constexpr int64_t SHORT_TURN_NS = 1'000'000;
// What one side computes in a short turn, and some more; it sleeps where the other takes longer.
constexpr int64_t SPIN_NS = 300'000;
// So many turns in a row say that an agent plays in lock-step, or no longer does.
constexpr uint32_t TURNS_TO_CHANGE = 16;
// Of a turn in which somebody else had the core, or the agent learned, so much counts.
constexpr int64_t LONGEST_COUNTED_NS = 4'000'000;
// Spinning takes a second core: it has to be worth it.
constexpr double WORTH_A_CORE = 0.9;

std::atomic<int> g_channels{0}; ///< of this process

cpu_set_t
OneCore(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    return cores;
}

} // namespace

bool
Spin(Waiting way, AdaptiveSpin& adaptive, const std::atomic<uint32_t>& word, uint32_t seen)
{
    switch (way)
    {
    case Waiting::ShareCore:
        return false;
    case Waiting::Spin:
        return SpinUntil([&] { return word.load(std::memory_order_acquire) != seen; }, SPIN_NS);
    case Waiting::Adaptive:
        break;
    }
    return adaptive.Await(word, seen);
}

LivingChannel::LivingChannel()
{
    ++g_channels;
}

LivingChannel::~LivingChannel()
{
    --g_channels;
}

TurnTaking::TurnTaking(int channels)
    : m_channels(channels)
{
}

bool
TurnTaking::IsLockStep() const
{
    return m_waitsAtOnce && m_answersSoon &&
           g_channels.load(std::memory_order_relaxed) == m_channels;
}

Waiting
TurnTaking::NextTried() const
{
    if (m_way == Waiting::Adaptive)
    {
        return Waiting::ShareCore;
    }
    // Several simulators that spin would want a core each.
    return m_way == Waiting::ShareCore && m_channels == 1 ? Waiting::Spin : Waiting::Adaptive;
}

void
TurnTaking::BeginsToWait(int64_t nowNs)
{
    m_waitsAtOnce = nowNs - m_sentNs < AT_ONCE_NS;
}

void
TurnTaking::HasAnswer(int64_t nowNs)
{
    m_answersSoon = nowNs - m_sentNs < SHORT_TURN_NS;
}

void
TurnTaking::Sends(int64_t nowNs)
{
    const int64_t turnNs = nowNs - m_sentNs;
    m_sentNs = nowNs;
    // A reset or an update of the agent now and then changes nothing.
    m_turnsInARow = IsLockStep() == (m_stage == Stage::Other) ? m_turnsInARow + 1 : 0;
    if (m_turnsInARow == TURNS_TO_CHANGE)
    {
        m_turnsInARow = 0;
        m_stage = m_stage == Stage::Other ? Stage::Trials : Stage::Other;
        BeginTrial(Waiting::Adaptive);
        return;
    }
    ++m_turns;
    if (m_stage == Stage::Trials)
    {
        CountInTrial(std::min(turnNs, LONGEST_COUNTED_NS));
    }
    else if (m_stage == Stage::Kept && m_turns == m_turnsBetween)
    {
        m_stage = Stage::Trials;
        BeginTrial(Waiting::Adaptive);
    }
}

void
TurnTaking::BeginTrial(Waiting way)
{
    m_way = way;
    m_turns = 0;
    m_trialNs = 0;
}

void
TurnTaking::CountInTrial(int64_t turnNs)
{
    m_trialNs += turnNs;
    const double worth = m_way == Waiting::Spin ? WORTH_A_CORE : 1.0;
    const bool lost = m_way != Waiting::Adaptive &&
                      static_cast<double>(m_trialNs) > worth * static_cast<double>(m_bestNs);
    if (!lost && m_turns < TRIAL_TURNS)
    {
        return;
    }
    if (!lost)
    {
        m_best = m_way;
        m_bestNs = m_trialNs;
    }
    if (NextTried() == Waiting::Adaptive)
    {
        EndTrials();
        return;
    }
    BeginTrial(NextTried());
}

void
TurnTaking::EndTrials()
{
    m_turnsBetween = m_best == m_kept ? std::min(2 * m_turnsBetween, MOST_BETWEEN) : FEWEST_BETWEEN;
    m_kept = m_best;
    m_stage = Stage::Kept;
    BeginTrial(m_best);
}

StayOnCore::StayOnCore()
    : m_stays(sched_getaffinity(0, sizeof m_allowed, &m_allowed) == 0)
{
    if (m_stays)
    {
        const cpu_set_t here = OneCore(sched_getcpu());
        m_stays = sched_setaffinity(0, sizeof here, &here) == 0;
    }
}

StayOnCore::~StayOnCore()
{
    if (m_stays)
    {
        sched_setaffinity(0, sizeof m_allowed, &m_allowed);
    }
}

CoreChoice::CoreChoice()
{
    CPU_ZERO(&m_allowed);
    sched_getaffinity(0, sizeof m_allowed, &m_allowed);
}

void
CoreChoice::Take(Waiting way, int32_t agentCore)
{
    if (way == m_way && (way == Waiting::Adaptive || agentCore == m_agentCore))
    {
        return;
    }
    m_way = way;
    m_agentCore = agentCore;
    cpu_set_t cores = m_allowed;
    if (agentCore >= 0 && agentCore < CPU_SETSIZE && CPU_ISSET(agentCore, &m_allowed))
    {
        if (way == Waiting::ShareCore)
        {
            cores = OneCore(agentCore);
        }
        else if (way == Waiting::Spin && CPU_COUNT(&m_allowed) > 1)
        {
            // Two that spin on one core would stay there: the system sees both at work.
            CPU_CLR(agentCore, &cores);
        }
    }
    // Where the system refuses, the simulator stays where it is: only time is lost.
    sched_setaffinity(0, sizeof cores, &cores);
}

} // namespace ns3::env
