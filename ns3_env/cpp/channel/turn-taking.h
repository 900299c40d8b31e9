// SPDX-License-Identifier: GPL-2.0-or-later
// How two processes with short turns wait for each other: spinning, or asleep on one core.
#pragma once

#include "futex.h"

#include <atomic>
#include <cstdint>
#include <sched.h>
#include <span>
#include <vector>

namespace ns3::env
{

/// Mode in which either side waits for the other.
enum class Waiting : uint32_t
{
    Adaptive = 0,  ///< each on any core; it spins as long as that pays (AdaptiveSpin)
    Spin = 1,      ///< each on a separate core; fast while both are idle otherwise
    ShareCore = 2, ///< all on the agent's core: no wake-up crosses cores, and no core spins
    Spread = 3, ///< several simulators: over all cores; one spins on each but the agent's (PlaceOf)
};

/// A simulator's part of the agent's choice.
struct Place
{
    Waiting way;
    int32_t core; ///< the core that it shares (ShareCore, Spread) or avoids (Spin)
};

/// Cores that the calling thread may use.
std::vector<int32_t> AllowedCores();

/// Place of the `index`-th simulator, whose agent runs on `agentCore`. Spread deals the simulators to `cores`, the
/// agent's first; the first one on any other core spins there, and all later ones sleep.
Place PlaceOf(Waiting way, size_t index, int32_t agentCore, std::span<const int32_t> cores);

/// Spins for `word` to change, in mode `way`; false when it is time to sleep.
bool Spin(Waiting way, AdaptiveSpin& adaptive, const std::atomic<uint32_t>& word, uint32_t seen);

/// Counts a channel of this process as long as it lives.
class LivingChannel
{
  public:
    LivingChannel();
    ~LivingChannel();
    LivingChannel(LivingChannel&&) = delete;
};

/// The agent's choice. Turns that are short, in which the agent waits for all its simulators as soon as it has sent, are
/// run for a while in each mode; the fastest is kept, until it is time to try again.
class TurnTaking
{
  public:
    /// \param channels that share the turn; with more in the process there is no lock-step
    /// \param cores that they may use
    explicit TurnTaking(int channels = 1, size_t cores = 2);

    void Sends(int64_t nowNs);
    /// A simulator that shares the agent's core may have computed meanwhile.
    void HasSent(int64_t nowNs) { m_handedOverNs = nowNs; }
    void BeginsToWait(int64_t nowNs);
    void HasAnswer(int64_t nowNs);

    Waiting Way() const { return m_way; }

    static constexpr uint32_t TRIAL_TURNS = 512;
    /// Turns until the next trials, doubled after trials that change nothing.
    static constexpr uint32_t FEWEST_BETWEEN = 4096;
    static constexpr uint32_t MOST_BETWEEN = 65536;

  private:
    enum class Stage
    {
        Other,  ///< no lock-step
        Trials, ///< of one mode after the other
        Kept,
    };

    bool IsLockStep() const;
    /// The mode to try after the present one; Adaptive if it was the last.
    Waiting NextTried() const;
    void BeginTrial(Waiting way);
    void CountInTrial(int64_t turnNs);
    void EndTrials();

    int m_channels;
    size_t m_cores;
    Waiting m_way{Waiting::Adaptive};
    Waiting m_best{Waiting::Adaptive}; ///< best mode of the trials so far
    Waiting m_kept{Waiting::Adaptive}; ///< by the last trials
    Stage m_stage{Stage::Other};
    bool m_waitsAtOnce{false};
    bool m_answersSoon{false};
    uint32_t m_turns{0}; ///< of this trial, or since the last one
    uint32_t m_turnsBetween{FEWEST_BETWEEN};
    uint32_t m_turnsInARow{0}; ///< turns that contradict the stage: in lock-step, or not
    int64_t m_sentNs{0};
    int64_t m_handedOverNs{0};
    int64_t m_trialNs{0};
    int64_t m_bestNs{0};
};

/// Keeps this thread on its core: the one that wakes it does not move it to an idle core.
class StayOnCore
{
  public:
    StayOnCore();
    ~StayOnCore();
    StayOnCore(StayOnCore&&) = delete;

  private:
    cpu_set_t m_allowed;
    bool m_stays;
};

/// The simulator's part: moves to the agent's core, keeps off it, or runs on any.
class CoreChoice
{
  public:
    CoreChoice();
    void Take(const Place& place);

  private:
    cpu_set_t m_allowed;
    Place m_place{Waiting::Adaptive, -1};
};

} // namespace ns3::env
