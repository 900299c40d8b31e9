// SPDX-License-Identifier: GPL-2.0-or-later
// Channels whose simulators an agent steps together.
#pragma once

#include "agent-channel.h"
#include "turn-taking.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::env
{

/// Sends to all of several simulators, and waits for all of them.
class ChannelGroup
{
  public:
    /// \param ends outlive it
    explicit ChannelGroup(std::vector<AgentChannel*> ends);

    ChannelGroup(ChannelGroup&&) = delete;

    std::span<AgentChannel* const> Ends() const { return m_ends; }

    /// Reports whether it is each simulator's turn.
    bool IsWaiting() const { return std::ranges::none_of(m_ends, &AgentChannel::IsOurTurn); }
    /// Waits until each has a message, which stays unread; false if one has none after `timeoutS` seconds.
    bool Wait(double timeoutS);

    /// Rows of a message that has arrived; empty if it is invalid or no Decisions message.
    static std::span<const DecisionRow> Decisions(const AgentChannel& end);

    /// Hands over to each: the first `counts[i]` of its actions. Those with a negative count were sent another command.
    /// \throws ChannelError out of turn
    /// \throws std::invalid_argument for an action that is not right; nothing was sent then
    void Step(std::span<const int64_t> counts);

  private:
    /// Reports whether this simulator shares the agent's core.
    bool IsOurs(size_t index) const { return m_places[index].core == m_core; }
    /// Hands over to one that is stepped.
    void HandOver(size_t index, int64_t count);

    std::vector<AgentChannel*> m_ends;
    std::vector<Doorbell*> m_bells; ///< of simulators with several of the channels
    std::vector<int32_t> m_cores;   ///< cores that this process may use
    std::vector<Place> m_places;    ///< of the present turn
    int32_t m_core{-1};             ///< the agent's core when it sent
    TurnTaking m_ofAll;
    TurnTaking& m_turns; ///< of the group; a single channel, with some turns by itself, has its own
};

} // namespace ns3::env
