// SPDX-License-Identifier: GPL-2.0-or-later
// Safety of a policy: ranges of its training, tolerated losses, and the bound of its windows.
#pragma once

#include "ns3_env/cpp/channel/observation-fields.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <cstdint>
#include <vector>

namespace ns3::env
{

/// The key "safety" of a policy's file (docs/policy-format.md). With r the RTT in base RTTs and M the setting "most_rtts",
///
/// window <= min(1, M / r) BDP.
///
/// n flows that all ask for as much as they can get then keep a queue in which r = sqrt(n M), instead of n.
class Safety
{
  public:
    /// \param json the key \param observed the policy's inputs, to which ranges apply
    /// \throws ScenarioError naming the key that is wrong
    Safety(JsonReader json, const std::vector<Field>& observed);

    /// Reports whether the policy has met such an observation: each field, as float32, is within its range.
    bool Covers(const ObservationRecord& record) const;

    /// Reports whether a flow resent so large a share of its bytes that the policy, which sees no losses, should stop.
    bool Loses(uint64_t repeatedBytes, uint64_t sentBytes) const
    {
        return static_cast<double>(repeatedBytes) > m_mostRepeated * static_cast<double>(sentBytes);
    }

    /// The action with its window within the bound.
    ActionRow Bounded(ActionRow action, const ObservationRecord& record) const;

  private:
    struct Range
    {
        Field field;
        float low;
        float high;
    };

    double m_mostRtts;
    double m_mostRepeated; ///< share of a flow's bytes
    std::vector<Range> m_ranges;
};

} // namespace ns3::env
