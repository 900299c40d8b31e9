// SPDX-License-Identifier: GPL-2.0-or-later
// Controllers of flows under a policy: across the channel, or from a file inside the simulator.
#ifndef NS3_ENV_DECISION_POLICY_CONTROLLER_H
#define NS3_ENV_DECISION_POLICY_CONTROLLER_H

#include "deciding-controller.h"
#include "policy-decider.h"

#include "ns3_env/cpp/policy/policy.h"

#include <map>
#include <memory>
#include <string>

namespace ns3::env
{

/// "agent": decides across the channel.
class AgentController final : public DecidingController
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override;

  private:
    uint32_t m_telemetryBytes{42};
};

/// "policy": the policy of a file decides (docs/policy-format.md), on its own clock.
class PolicyController final : public DecidingController
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override;

    const std::string& File() const { return m_file; }
    ExplorationSettings Exploring() const
    {
        return {.noise = m_noise, .randomShare = m_randomShare};
    }

  private:
    std::string m_file;
    int32_t m_telemetryBytes{-1};
    bool m_hopRecords{false};
    double m_noise{0};
    double m_randomShare{0};
};

/// The policies of the episode that a process simulates. A file that changes meanwhile is read at the next one.
class PolicyCache
{
  public:
    /// \throws ScenarioError naming the file and what is wrong with it
    static Policy& Get(const std::string& file)
    {
        auto& policy = s_policies[file];
        if (!policy)
        {
            policy = std::make_unique<Policy>(file);
        }
        return *policy;
    }

    /// The episode is over.
    static void Clear() { s_policies.clear(); }

  private:
    inline static std::map<std::string, std::unique_ptr<Policy>> s_policies;
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_POLICY_CONTROLLER_H
