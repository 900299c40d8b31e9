// SPDX-License-Identifier: GPL-2.0-or-later
// Decider by a policy in the simulator, with each flow's history and exploration.
#pragma once

#include "deciding-controller.h"
#include "decision-broker.h"
#include "episode-channel.h"

#include "ns3_env/cpp/policy/policy-cache.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::env
{

/// Decisions that a random action is held for, on average.
inline constexpr double MEAN_HOLD = 4.0;

/// Users' name of the controller that takes over from a policy with a safety in situations outside its training.
inline constexpr const char* FALLBACK = "swift";

/// Amount of exploration by a policy in the simulator.
struct ExplorationSettings
{
    double noise{0};       ///< standard deviation of the noise added to an action
    double randomShare{0}; ///< share of flows with only random actions
    uint64_t play{0};      ///< numbers runs of the same flows, each with random numbers of its own

    bool None() const { return noise == 0 && randomShare == 0; }
};

/// The exploration of one flow: random from beginning to end, each action held for some decisions (εz-greedy, Dabney et
/// al. 2021), or the policy's with noise. Its random numbers depend only on the episode's seed, the play and the flow.
class Exploration
{
  public:
    Exploration(const ExplorationSettings& settings, uint64_t seed, uint32_t flow);

    /// The action taken instead of `action`, in [-1, 1].
    double operator()(double action);

  private:
    uint64_t Next();
    double Uniform() { return static_cast<double>(Next() >> 11U) * 0x1p-53; }
    double Normal();

    ExplorationSettings m_settings;
    uint64_t m_state;
    bool m_random;
    uint64_t m_holdFor{0};
    double m_held{0};
};

class PolicyController;

/// One policy, and the flows under it.
class PolicyDecider final : public Decider
{
  public:
    /// \param seed the episode's \param log receives the decisions; may be null
    PolicyDecider(Policy& policy, uint64_t seed, TransitionLog* log);

    /// \param controller a PolicyController
    void Adopt(uint32_t flow, DecidingController& controller) override;
    bool
    Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now) override;

  private:
    struct Memory
    {
        FlowHistory history;
        std::optional<Exploration> exploration;
        PolicyController* controller{nullptr};
    };

    Policy& m_policy;
    uint64_t m_seed;
    TransitionLog* m_log;
    std::unordered_map<uint32_t, Memory> m_memories; ///< by flow
    // Buffers of one batch, reused to avoid allocations.
    std::vector<Memory*> m_due;
    std::vector<FlowHistory*> m_histories;
    std::vector<float> m_outputs;
};

/// "agent": decides across the channel.
class AgentController : public DecidingController
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override;
    std::string PolicyFile() const override { return {}; }

  private:
    uint32_t m_telemetryBytes{42};
};

/// "policy": the policy of a file decides (docs/policy-format.md), on its own clock.
class PolicyController : public DecidingController
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override;

    std::string PolicyFile() const override { return m_file; }
    ExplorationSettings Exploring() const
    {
        return {.noise = m_noise, .randomShare = m_randomShare, .play = m_play};
    }

    /// Replaces `action` if the policy's file has a safety: by the action within its bounds or, for an observation
    /// outside the policy's training, by Swift's initial action; Swift steers the flow from then on.
    ActionRow Secure(const Safety& safety,
                     const ActionRow& action,
                     const ObservationRecord& record,
                     Picos now);
    /// Counters of a policy with a safety: "policy_fallbacks", "policy_windows_bounded".
    std::vector<std::pair<std::string, double>> GetCounters() const override;

  protected:
    void OnLoss(Picos now) override;
    double DecidesFromBdps() const override;
    double TelemetryFromBdps() const override;
    double TelemetryEveryRtts() const override;

  private:
    /// Swift steers the flow from now on; see HandOver().
    ActionRow FallBack(Picos now);

    std::string m_file;
    int32_t m_telemetryBytes{-1};
    bool m_hopRecords{false};
    double m_noise{0};
    double m_randomShare{0};
    uint32_t m_play{0};
    uint32_t m_fallbacks{0};
    uint32_t m_bounded{0}; ///< windows
};

} // namespace ns3::env
