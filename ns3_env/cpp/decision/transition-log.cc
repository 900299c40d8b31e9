// SPDX-License-Identifier: GPL-2.0-or-later
#include "transition-log.h"

namespace ns3::env
{

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
