// SPDX-License-Identifier: GPL-2.0-or-later
// Exploration by a policy in the simulator: random actions that are held, or noise on its own.
#ifndef NS3_ENV_DECISION_EXPLORATION_H
#define NS3_ENV_DECISION_EXPLORATION_H

#include <cstdint>

namespace ns3::env
{

/// Decisions that a random action is held for, on average.
inline constexpr double MEAN_HOLD = 4.0;

/// How much a policy in the simulator explores.
struct ExplorationSettings
{
    double noise{0};       ///< standard deviation of what is added to an action
    double randomShare{0}; ///< share of flows whose actions are all random

    bool None() const { return noise == 0 && randomShare == 0; }
};

/**
 * The exploration of one flow: random from beginning to end, each action held for some decisions (εz-greedy, Dabney et
 * al. 2021), or the policy's with noise. Its numbers hang on the episode's seed and the flow alone.
 */
class Exploration
{
  public:
    Exploration(const ExplorationSettings& settings, uint64_t seed, uint32_t flow);

    /// The action taken instead of `action`, in [-1, 1].
    double operator()(double action);

  private:
    uint64_t Next();
    double Uniform();
    double Normal();

    ExplorationSettings m_settings;
    uint64_t m_state;
    bool m_random;
    uint64_t m_holdFor{0};
    double m_held{0};
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_EXPLORATION_H
