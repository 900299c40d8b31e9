// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's end of the channel, Python's.
#pragma once

#include "channel-layout.h"
#include "doorbell.h"
#include "futex.h"
#include "shared-region.h"
#include "turn-taking.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::env
{

/// The agent's end of the channel: it owns the region.
class AgentChannel
{
  public:
    /// Creates the region for `capacity` rows.
    /// \param bell of a simulator with several channels; null if this is its only one
    /// \throws ChannelError
    explicit AgentChannel(uint32_t capacity, std::shared_ptr<Doorbell> bell = nullptr);
    ~AgentChannel();
    AgentChannel(AgentChannel&&) = delete;

    /// Memory files the simulator must inherit under the same numbers.
    int ChannelFd() const { return m_region.Fd(); }
    int BlobFd() const { return m_blobFd; }
    uint32_t Capacity() const { return static_cast<uint32_t>(m_rows.size()); }

    /// Waits for the simulator's next message, at most `timeoutS` seconds (0: looks once).
    /// Returns Message::None if there is none yet, or on a signal.
    /// \throws ChannelError for a simulator of another build.
    Message Wait(double timeoutS);
    /// Index of an end with a message; -1 if no end has one yet. Wait(0) of that end then reads it.
    static int WaitAny(const std::vector<AgentChannel*>& ends, double timeoutS);

    /// The message taken last.
    Message Kind() const { return m_kind; }
    /// Reports whether a message awaits an answer: true from Wait() to Send().
    bool IsOurTurn() const { return m_ourTurn; }
    /// Commands sent.
    uint32_t Turns() const { return m_control->agentSequence.load(std::memory_order_relaxed); }
    int64_t TimePs() const { return m_control->timePs; }
    uint32_t RowCount() const { return m_rowCount; }
    /// Actions that the message taken last asks for; negative: none may be sent.
    int64_t Due() const { return m_ourTurn ? m_due : -1; }
    std::span<DecisionRow> Rows() const { return m_rows; }
    std::span<ActionRow> Actions() const { return m_actions; }
    /// The schema of the simulator; empty before Ready.
    std::span<const SchemaField> Fields() const
    {
        return {m_header->fields, std::min<size_t>(m_header->fieldCount, FIELD_COUNT)};
    }

    /// Hands over; for Step, the first `actionCount` of Actions().
    /// \throws ChannelError out of turn
    /// \throws std::invalid_argument for an action that is not right; it is our turn still
    void Send(Command command, uint32_t actionCount = 0);
    /// Asks for a copy of the simulator, whose end of the channel is that of `other`; Kind() will be Copied.
    /// \param outputFd receives its output \throws ChannelError out of turn
    void Branch(const AgentChannel& other, int outputFd, const CopyTerms& terms);
    /// Process of the copy, after Copied; negative: errno of the failure.
    int CopyPid() const { return m_control->copyPid; }
    std::string ReadBlob() const;
    void WriteBlob(std::string_view text);
    /// Signs of life of the simulator, whichever network it plays.
    uint64_t Heartbeat() const;

  private:
    friend class ChannelGroup;

    bool HasMessage() const
    {
        return m_control->simulatorSequence.load(std::memory_order_acquire) != m_seen;
    }
    /// Waits for a message in mode `way`, without reading it; false if none came in time.
    bool Await(Waiting way, double timeoutS);
    /// The message that is there. \throws ChannelError
    Message Take();
    /// Due() of the message taken last.
    int64_t CountDue() const;
    /// Checks the turn and the actions. \throws as Send()
    void CheckSend(Command command, uint32_t actionCount) const;
    /// The simulator waits at this place next; one with several channels continues once its bell rings.
    void HandOver(Command command, uint32_t actionCount, const Place& place);

    LivingChannel m_living;
    std::shared_ptr<Doorbell> m_bell;
    SharedRegion m_region;
    int m_blobFd{-1};
    ChannelHeader* m_header;
    ChannelControl* m_control;
    std::span<DecisionRow> m_rows;
    std::span<ActionRow> m_actions;
    AdaptiveSpin m_spin;
    TurnTaking m_turns;
    uint32_t m_seen{0};
    uint32_t m_rowCount{0};
    int64_t m_due{-1};
    Message m_kind{Message::None};
    bool m_ourTurn{false};
};

} // namespace ns3::env
