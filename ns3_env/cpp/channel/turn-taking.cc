// SPDX-License-Identifier: GPL-2.0-or-later
// How two processes with short turns wait for each other: spinning, or asleep on one core.
#include "turn-taking.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

// An agent that continues to work after it has sent leaves the other core to the simulator.
constexpr int64_t AT_ONCE_NS = 30'000;
// In longer turns a wake-up across cores (about 45 us) hardly counts.
constexpr int64_t SHORT_TURN_NS = 1'000'000;
// Somewhat more than one side computes in a short turn; a side sleeps if the other needs longer.
constexpr int64_t SPIN_NS = 300'000;
// Turns in a row after which an agent counts as running in lock-step, or no longer does.
constexpr uint32_t TURNS_TO_CHANGE = 16;
// Most that is counted of a turn in which another process had the core, or the agent learned.
constexpr int64_t LONGEST_COUNTED_NS = 4'000'000;
// Spinning occupies a second core: it has to be worth it.
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
    const auto changed = [&] { return word.load(std::memory_order_acquire) != seen; };
    const auto changedLater = [&]
    {
        sched_yield(); // to other threads on this core that have work
        return changed();
    };
    switch (way)
    {
    case Waiting::ShareCore:
        return false;
    case Waiting::Spin:
        return SpinUntil(changed, SPIN_NS);
    case Waiting::Spread:
        return changed() || SpinUntil(changedLater, SPIN_NS);
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

std::vector<int32_t>
AllowedCores()
{
    std::vector<int32_t> found;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    for (int32_t core = 0; core < CPU_SETSIZE; ++core)
    {
        if (CPU_ISSET(core, &cores))
        {
            found.push_back(core);
        }
    }
    return found;
}

Place
PlaceOf(Waiting way, size_t index, int32_t agentCore, std::span<const int32_t> cores)
{
    if (way != Waiting::Spread)
    {
        return {way, agentCore};
    }
    const auto own = std::find(cores.begin(), cores.end(), agentCore);
    if (own == cores.end()) // it was moved since
    {
        return {Waiting::Adaptive, agentCore};
    }
    const size_t turn = index % cores.size();
    const int32_t core = cores[(static_cast<size_t>(own - cores.begin()) + turn) % cores.size()];
    return {turn == 0 || index >= cores.size() ? Waiting::ShareCore : Waiting::Spread, core};
}

TurnTaking::TurnTaking(int channels, size_t cores)
    : m_channels(channels),
      m_cores(cores)
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
    const Waiting last = m_channels == 1 ? Waiting::Spin : Waiting::Spread;
    return m_way == Waiting::ShareCore && m_cores > 1 ? last : Waiting::Adaptive;
}

void
TurnTaking::BeginsToWait(int64_t nowNs)
{
    m_waitsAtOnce = nowNs - m_handedOverNs < AT_ONCE_NS;
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
    // An occasional reset or update of the agent has no effect.
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
    const bool spins = m_way == Waiting::Spin || m_way == Waiting::Spread;
    const double worth = spins ? WORTH_A_CORE : 1.0;
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
CoreChoice::Take(const Place& place)
{
    if (place.way == m_place.way && (place.way == Waiting::Adaptive || place.core == m_place.core))
    {
        return;
    }
    m_place = place;
    cpu_set_t cores = m_allowed;
    if (place.core >= 0 && place.core < CPU_SETSIZE && CPU_ISSET(place.core, &m_allowed))
    {
        if (place.way == Waiting::ShareCore || place.way == Waiting::Spread)
        {
            cores = OneCore(place.core);
        }
        else if (place.way == Waiting::Spin && CPU_COUNT(&m_allowed) > 1)
        {
            // Two that spin on one core would stay there: the system sees both at work.
            CPU_CLR(place.core, &cores);
        }
    }
    // If the system refuses, the simulator stays on its cores: only time is lost.
    sched_setaffinity(0, sizeof cores, &cores);
}

} // namespace ns3::env
