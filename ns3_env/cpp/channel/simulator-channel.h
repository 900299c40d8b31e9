// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator's end of the channel.
#pragma once

#include "channel-layout.h"
#include "futex.h"
#include "shared-region.h"
#include "turn-taking.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::env
{

/// The simulator's end of the channel.
class SimulatorChannel
{
  public:
    /// Maps the inherited region, checks it and writes the table of observation fields.
    /// Publish(Message::Ready) is left to the program, once it is ready for a scenario.
    /// \throws ChannelError when this is no region of ours, or one of another build.
    explicit SimulatorChannel(int channelFd);

    /// Maximum rows of one message; send more in several Decisions messages, each answered by its Step.
    uint32_t Capacity() const { return static_cast<uint32_t>(m_rows.size()); }
    /// Makes it one of several channels of this process.
    /// \param heartbeat counts the progress of all networks together
    /// \param pause plays other networks, until any has a command
    void Share(std::atomic<uint64_t>& heartbeat, std::function<void()> pause);
    /// Reports whether it is one of several; a copy of the process has only its own.
    bool IsShared() const { return m_pause != nullptr; }
    /// Reports whether the agent has answered the last message.
    bool HasCommand() const
    {
        return m_control->agentSequence.load(std::memory_order_acquire) != m_seen;
    }
    /// The process that created the channel.
    int AgentPid() const { return m_header->agentPid; }

    /// The region's rows, to be filled in place before Publish(kind, timePs, count).
    std::span<DecisionRow> Rows() { return m_rows; }
    void Publish(Message kind, int64_t timePs, uint32_t rowCount);
    /// Publishes copies of `rows`. \throws ChannelError for more rows than Capacity().
    void Publish(Message kind, int64_t timePs = 0, std::span<const DecisionRow> rows = {});

    /// Sleeps until the agent has answered the last message.
    /// After a Step there are exactly as many Actions() as published rows that need one, and each is valid.
    /// \throws ChannelError for a command that breaks the protocol.
    Command Wait();
    /// Obeys Command::Branch: the process is copied, and the copy repeats the present request on its own channel. Both
    /// then wait. \return in the copy, whose Heartbeat() is another, how it has to continue
    /// \throws ChannelError in a copy with an invalid channel
    std::optional<CopyTerms> Branch();
    /// The actions of the last Step.
    std::span<const ActionRow> Actions() const { return m_actions; }
    /// The region's actions, to be filled in place before Publish(Message::Transitions, ...).
    std::span<ActionRow> ActionsToWrite() { return {m_actionRows, m_rows.size()}; }

    /// Text that the agent wrote before its last command.
    std::string ReadBlob() const;
    /// Writes the blob; call before the message that refers to it.
    void WriteBlob(std::string_view text);

    /// Progress of the simulation: the agent kills a simulator whose counter stops.
    std::atomic<uint64_t>& Heartbeat() { return *m_heartbeat; }

  private:
    /// Same as the public one, with this file as the blob, whatever its descriptor in the agent's process.
    SimulatorChannel(int channelFd, int blobFd);
    /// Sleeps, or spins, until the agent has answered.
    void AwaitCommand();
    /// The copy's part of Branch().
    void MoveTo(const CopyFiles& files);

    SharedRegion m_region;
    ChannelHeader* m_header;
    ChannelControl* m_control;
    std::span<DecisionRow> m_rows;
    ActionRow* m_actionRows;
    std::vector<ActionRow> m_actions; ///< a copy: checked values no longer change
    int m_blobFd;
    std::function<void()> m_pause; ///< of one of several channels
    std::atomic<uint64_t>* m_heartbeat;
    AdaptiveSpin m_spin;
    CoreChoice m_core;
    Waiting m_waiting{Waiting::Adaptive}; ///< as the agent last requested
    uint32_t m_seen{0};                   ///< the last command's sequence number
    uint32_t m_expected{0};               ///< actions due for the last message
    Message m_published{Message::None};
};

} // namespace ns3::env
