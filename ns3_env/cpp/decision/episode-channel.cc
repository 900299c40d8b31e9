// SPDX-License-Identifier: GPL-2.0-or-later
// The channel during one episode: decisions, transitions, and requests to end the episode.
#include "episode-channel.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

/// The action that leaves the row's flow or port as it is.
ActionRow
Kept(const DecisionRow& row)
{
    if (row.kind == RowKind::Port)
    {
        return {row.record[Field::PortKminBytes],
                row.record[Field::PortKmaxBytes],
                row.record[Field::PortPmax]};
    }
    return {row.record[Field::WindowBytes], row.record[Field::RateBps], 0.0};
}

} // namespace

bool
ChannelDecider::Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now)
{
    SimulatorChannel& channel = m_channel.Channel();
    auto action = actions.begin();
    // More rows than fit in the channel are sent in several messages.
    while (!rows.empty())
    {
        const auto part = rows.first(std::min<size_t>(rows.size(), channel.Capacity()));
        rows = rows.subspan(part.size());
        if (!m_channel.Asks())
        {
            for (const DecisionRow& row : part)
            {
                if (row.NeedsAction())
                {
                    *action++ = Kept(row);
                }
            }
            continue;
        }
        std::copy(part.begin(), part.end(), channel.Rows().begin());
        if (!m_channel.Exchange(Message::Decisions, now, part.size()))
        {
            return false;
        }
        action = std::copy(channel.Actions().begin(), channel.Actions().end(), action);
    }
    return true;
}

bool
TransitionLog::Add(const DecisionRow& row, const ActionRow& action, Picos now)
{
    SimulatorChannel& channel = m_channel.Channel();
    channel.Rows()[m_count] = row;
    channel.ActionsToWrite()[m_count] = action;
    ++m_count;
    return m_count < channel.Capacity() || Flush(now);
}

bool
TransitionLog::Flush(Picos now)
{
    const size_t count = m_count;
    m_count = 0;
    return count == 0 || m_channel.Exchange(Message::Transitions, now, count);
}

} // namespace ns3::env
