// SPDX-License-Identifier: GPL-2.0-or-later
// Safety of a policy: ranges of its training, tolerated losses, and the bound of its windows.
#include "safety.h"

#include "ns3_env/cpp/json/bounds.h"

#include <algorithm>
#include <string>

namespace ns3::env
{

namespace
{

constexpr double MOST = 1e15; // no field has more

} // namespace

Safety::Safety(JsonReader json, const std::vector<Field>& observed)
    : m_mostRtts(json.Number("most_rtts", 1.0, bounds::RTTS)),
      m_mostRepeated(json.Has("most_repeated") ? json.Number("most_repeated", 0.0, 1.0) : 1.0)
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

bool
Safety::Covers(const ObservationRecord& record) const
{
    return std::all_of(m_ranges.begin(),
                       m_ranges.end(),
                       [&](const Range& range)
                       {
                           const auto value = static_cast<float>(record[range.field]);
                           return range.low <= value && value <= range.high;
                       });
}

ActionRow
Safety::Bounded(ActionRow action, const ObservationRecord& record) const
{
    const double share = std::min(1.0, m_mostRtts / std::max(record[Field::Rtt], 1.0));
    const double most = share * std::max(record[Field::BdpBytes], record[Field::PacketBytes]);
    action.windowBytes = std::min(action.windowBytes, most);
    return action;
}

} // namespace ns3::env
