// SPDX-License-Identifier: GPL-2.0-or-later
// The policies of the present episode, each read from its file once.
#pragma once

#include "policy.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace ns3::env
{

/// The policies of the present episode. A file that changes meanwhile is read at the next one.
class PolicyCache
{
  public:
    /// \param part of the network in which it decides: each has a separate policy, as parts run concurrently
    /// \throws ScenarioError naming the file and the error
    static Policy& Get(const std::string& file, uint32_t part = 0)
    {
        auto& policy = s_policies[{file, part}];
        if (!policy)
        {
            policy = std::make_unique<Policy>(file);
        }
        return *policy;
    }

    /// Removes all policies at the end of an episode.
    static void Clear() { s_policies.clear(); }

    using Policies = std::map<std::pair<std::string, uint32_t>, std::unique_ptr<Policy>>;
    /// Continues with those of another network's episode.
    static void Exchange(Policies& others) { s_policies.swap(others); }

  private:
    inline static Policies s_policies;
};

} // namespace ns3::env
