// SPDX-License-Identifier: GPL-2.0-or-later
// Decider by a policy in the simulator, with each flow's history and exploration.
#ifndef NS3_ENV_DECISION_POLICY_DECIDER_H
#define NS3_ENV_DECISION_POLICY_DECIDER_H

#include "decider.h"
#include "exploration.h"
#include "transition-log.h"

#include "ns3_env/cpp/policy/policy.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ns3::env
{

/// One policy, and the flows under it.
class PolicyDecider final : public Decider
{
  public:
    /// \param seed the episode's \param log gets what was decided; may be null
    PolicyDecider(Policy& policy, uint64_t seed, TransitionLog* log);

    /// A flow joins, before it starts.
    void Adopt(uint32_t flow, const ExplorationSettings& exploration);

    bool
    Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now) override;

  private:
    struct Memory
    {
        FlowHistory history;
        std::optional<Exploration> exploration;
    };

    Policy& m_policy;
    uint64_t m_seed;
    TransitionLog* m_log;
    std::unordered_map<uint32_t, Memory> m_memories; ///< by flow
    // Of one batch; kept, so that nothing is allocated for each.
    std::vector<Memory*> m_due;
    std::vector<const FlowHistory*> m_histories;
    std::vector<float> m_outputs;
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_POLICY_DECIDER_H
