// SPDX-License-Identifier: GPL-2.0-or-later
// Channels whose simulators an agent steps together.
#include "channel-group.h"

#include "futex.h"

#include <sched.h>
#include <stdexcept>
#include <utility>

namespace ns3::env
{

ChannelGroup::ChannelGroup(std::vector<AgentChannel*> ends)
    : m_ends(std::move(ends)),
      m_ofAll(static_cast<int>(m_ends.size())),
      m_turns(m_ends.size() == 1 ? m_ends.front()->m_turns : m_ofAll)
{
}

bool
ChannelGroup::Wait(double timeoutS)
{
    m_turns.BeginsToWait(MonotonicNs());
    for (AgentChannel* end : m_ends)
    {
        if (!end->Await(m_turns.Way(), timeoutS))
        {
            return false;
        }
    }
    m_turns.HasAnswer(MonotonicNs());
    return true;
}

std::span<const DecisionRow>
ChannelGroup::Decisions(const AgentChannel& end)
{
    // Read once: the other side may write on. What is wrong, taking the message says.
    const uint32_t count = end.m_control->rowCount;
    const bool decisions = end.HasMessage() && count <= end.m_rows.size() &&
                           end.m_control->message == static_cast<uint32_t>(Message::Decisions);
    return end.m_rows.first(decisions ? count : 0);
}

void
ChannelGroup::Step(std::span<const uint32_t> counts)
{
    if (counts.size() != m_ends.size())
    {
        throw std::invalid_argument("a number of actions for each simulator, please");
    }
    for (size_t i = 0; i < m_ends.size(); ++i)
    {
        m_ends[i]->CheckSend(Command::Step, counts[i]);
    }
    m_turns.Sends(MonotonicNs());
    const int core = sched_getcpu();
    for (size_t i = 0; i < m_ends.size(); ++i)
    {
        m_ends[i]->HandOver(Command::Step, counts[i], m_turns.Way(), core);
    }
}

} // namespace ns3::env
