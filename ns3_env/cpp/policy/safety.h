// SPDX-License-Identifier: GPL-2.0-or-later
// Safety of a policy: ranges of its training, tolerated losses, and the bound of its windows.
#pragma once

#include "ns3_env/cpp/channel/observation-fields.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::env
{

/// The key "safety" of a policy's file (docs/policy-format.md). With r the RTT in base RTTs and M the setting "most_rtts",
///
///     window <= min(1, M / r) BDP.
///
/// n flows that all ask for as much as they can get then keep a queue in which r = sqrt(n M), instead of n.
class Safety
{
  public:
    /// \param json the key \param observed the policy's inputs, to which ranges apply
    /// \throws ScenarioError naming the key that is wrong
    Safety(JsonReader json, const std::vector<Field>& observed)
        : m_mostRtts(json.Number("most_rtts", 1.0, bounds::RTTS)),
          m_mostRepeated(json.MaybeNumber("most_repeated", 0.0, 1.0).value_or(1.0))
    {
        JsonReader ranges = json.Sub("ranges");
        for (const Field field : observed)
        {
            const std::string name = ObservationFields()[static_cast<size_t>(field)].name;
            if (!ranges.Has(name))
            {
                continue;
            }
            const std::vector<double> ends = ranges.Numbers(name, 2, -MOST, MOST);
            if (ends.size() != 2 || ends[0] > ends[1])
            {
                throw ScenarioError(ranges.Path(name),
                                    "must be two numbers, the least and the largest that was met");
            }
            m_ranges.push_back({field, static_cast<float>(ends[0]), static_cast<float>(ends[1])});
        }
        ranges.RefuseOthers();
        json.RefuseOthers();
    }

    /// Reports whether the policy has met such an observation: each field, as float32, is within its range.
    bool Covers(const ObservationRecord& record) const
    {
        return std::all_of(m_ranges.begin(),
                           m_ranges.end(),
                           [&](const Range& range)
                           {
                               const auto value = static_cast<float>(record[range.field]);
                               return range.low <= value && value <= range.high;
                           });
    }

    /// Reports whether a flow resent so large a share of its bytes that the policy, which sees no losses, should stop.
    bool Loses(uint64_t repeatedBytes, uint64_t sentBytes) const
    {
        return static_cast<double>(repeatedBytes) > m_mostRepeated * static_cast<double>(sentBytes);
    }

    /// The action with its window within the bound.
    ActionRow Bounded(ActionRow action, const ObservationRecord& record) const
    {
        const double share = std::min(1.0, m_mostRtts / std::max(record[Field::Rtt], 1.0));
        const double most = share * std::max(record[Field::BdpBytes], record[Field::PacketBytes]);
        action.windowBytes = std::min(action.windowBytes, most);
        return action;
    }

  private:
    static constexpr double MOST = 1e15; // no field has more

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
