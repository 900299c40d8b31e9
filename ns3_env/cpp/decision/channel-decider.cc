// SPDX-License-Identifier: GPL-2.0-or-later
#include "channel-decider.h"

#include <algorithm>

namespace ns3::env
{

bool
ChannelDecider::Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now)
{
    SimulatorChannel& channel = m_channel.Channel();
    auto action = actions.begin();
    // More rows than the channel holds go in several messages.
    while (!rows.empty())
    {
        const auto part = rows.first(std::min<size_t>(rows.size(), channel.Capacity()));
        std::copy(part.begin(), part.end(), channel.Rows().begin());
        if (!m_channel.Exchange(Message::Decisions, now, part.size()))
        {
            return false;
        }
        action = std::copy(channel.Actions().begin(), channel.Actions().end(), action);
        rows = rows.subspan(part.size());
    }
    return true;
}

} // namespace ns3::env
