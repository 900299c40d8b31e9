// SPDX-License-Identifier: GPL-2.0-or-later
// The policies of an episode, each file read once and kept to the episode's end.
#ifndef NS3_ENV_DECISION_POLICY_CACHE_H
#define NS3_ENV_DECISION_POLICY_CACHE_H

#include "ns3_env/cpp/policy/policy.h"

#include <map>
#include <memory>
#include <string>

namespace ns3::env
{

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

#endif // NS3_ENV_DECISION_POLICY_CACHE_H
