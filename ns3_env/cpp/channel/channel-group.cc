// SPDX-License-Identifier: GPL-2.0-or-later
// Channels whose simulators an agent steps together.
#include "channel-group.h"

#include "futex.h"

#include <algorithm>
#include <sched.h>
#include <stdexcept>
#include <utility>

namespace ns3::env
{

ChannelGroup::ChannelGroup(std::vector<AgentChannel*> ends)
    : m_ends(std::move(ends)),
      m_cores(AllowedCores()),
      m_places(m_ends.size(), Place{Waiting::Adaptive, -1}),
      m_ofAll(static_cast<int>(m_ends.size()), m_cores.size()),
      m_turns(m_ends.size() == 1 ? m_ends.front()->m_turns : m_ofAll)
{
    for (const AgentChannel* end : m_ends)
    {
        if (end->m_bell && std::ranges::find(m_bells, end->m_bell.get()) == m_bells.end())
        {
            m_bells.push_back(end->m_bell.get());
        }
    }
}

bool
ChannelGroup::Wait(double timeoutS)
{
    if (!m_bells.empty())
    {
        // A simulator plays its networks in order: after the last answer all are there, and one wake-up is enough.
        return std::all_of(m_ends.rbegin(),
                           m_ends.rend(),
                           [timeoutS](AgentChannel* end)
                           { return end->Await(Waiting::Adaptive, timeoutS); });
    }
    m_turns.BeginsToWait(MonotonicNs());
    // Ends on this core first: they need it. Then it is free for spinning.
    for (const bool ours : {true, false})
    {
        for (size_t i = 0; i < m_ends.size(); ++i)
        {
            if (IsOurs(i) == ours &&
                !m_ends[i]->Await(ours ? m_places[i].way : Waiting::Spread, timeoutS))
            {
                return false;
            }
        }
    }
    m_turns.HasAnswer(MonotonicNs());
    return true;
}

std::span<const DecisionRow>
ChannelGroup::Decisions(const AgentChannel& end)
{
    // Read once: the other side may continue to write. Reading the message later reports any error.
    const uint32_t count = end.m_control->rowCount;
    const bool decisions = end.HasMessage() && count <= end.m_rows.size() &&
                           end.m_control->message == static_cast<uint32_t>(Message::Decisions);
    return end.m_rows.first(decisions ? count : 0);
}

void
ChannelGroup::Step(std::span<const int64_t> counts)
{
    if (counts.size() != m_ends.size())
    {
        throw std::invalid_argument("a number of actions for each simulator, please");
    }
    for (size_t i = 0; i < m_ends.size(); ++i)
    {
        if (counts[i] >= 0)
        {
            m_ends[i]->CheckSend(Command::Step, static_cast<uint32_t>(counts[i]));
        }
    }
    if (!m_bells.empty())
    {
        for (size_t i = 0; i < m_ends.size(); ++i)
        {
            HandOver(i, counts[i]);
        }
        std::ranges::for_each(m_bells, &Doorbell::Ring);
        return;
    }
    m_turns.Sends(MonotonicNs());
    m_core = sched_getcpu();
    for (size_t i = 0; i < m_ends.size(); ++i)
    {
        m_places[i] = PlaceOf(m_turns.Way(), i, m_core, m_cores);
    }
    // Ends on other cores first: they start while the rest are woken.
    for (const bool ours : {false, true})
    {
        for (size_t i = 0; i < m_ends.size(); ++i)
        {
            if (IsOurs(i) == ours)
            {
                HandOver(i, counts[i]);
            }
        }
    }
    m_turns.HasSent(MonotonicNs());
}

void
ChannelGroup::HandOver(size_t index, int64_t count)
{
    if (count >= 0)
    {
        m_ends[index]->HandOver(Command::Step, static_cast<uint32_t>(count), m_places[index]);
    }
}

} // namespace ns3::env
