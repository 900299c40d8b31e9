// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's end of the channel, Python's.
#include "agent-channel.h"

#include "futex.h"
#include "shared-region.h"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <sched.h>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace ns3::env
{

namespace
{

/// Converts a time to wait; a century is long enough.
int64_t
ToNs(double seconds)
{
    return static_cast<int64_t>(std::min(seconds, 3e9) * 1e9);
}

} // namespace

AgentChannel::AgentChannel(uint32_t capacity, std::shared_ptr<Doorbell> bell)
    : m_bell(std::move(bell)),
      m_region(SharedRegion::Create("ns3_env-channel", RegionBytes(capacity)))
{
    if (capacity == 0)
    {
        throw ChannelError("a channel needs room for at least one row");
    }
    m_blobFd = CreateBlobFile();
    m_header = new (m_region.Data()) ChannelHeader{};
    m_header->magic = CHANNEL_MAGIC;
    m_header->version = CHANNEL_VERSION;
    m_header->capacity = capacity;
    m_header->agentLayoutHash = ChannelLayoutHash();
    m_header->regionBytes = m_region.Bytes();
    m_header->controlOffset = CONTROL_OFFSET;
    m_header->rowsOffset = ROWS_OFFSET;
    m_header->actionsOffset = ActionsOffset(capacity);
    m_header->blobFd = m_blobFd;
    m_header->agentPid = getpid();
    m_control = new (m_region.Data() + CONTROL_OFFSET) ChannelControl{};
    m_rows = {reinterpret_cast<DecisionRow*>(m_region.Data() + ROWS_OFFSET), capacity};
    m_actions = {reinterpret_cast<ActionRow*>(m_region.Data() + ActionsOffset(capacity)), capacity};
}

AgentChannel::~AgentChannel()
{
    close(m_blobFd);
}

bool
AgentChannel::Await(Waiting way, double timeoutS)
{
    if (HasMessage())
    {
        return true;
    }
    auto& sequence = m_control->simulatorSequence;
    if (!(timeoutS > 0))
    {
        return false;
    }
    if (Spin(way, m_spin, sequence, m_seen))
    {
        return true;
    }
    m_control->agentSleeps.store(1, std::memory_order_seq_cst);
    if (sequence.load(std::memory_order_seq_cst) == m_seen)
    {
        std::optional<StayOnCore> stay;
        if (way == Waiting::ShareCore)
        {
            stay.emplace();
        }
        FutexWait(sequence, m_seen, ToNs(timeoutS));
    }
    m_control->agentSleeps.store(0, std::memory_order_relaxed);
    return HasMessage();
}

Message
AgentChannel::Wait(double timeoutS)
{
    m_turns.BeginsToWait(MonotonicNs());
    if (!Await(m_turns.Way(), timeoutS))
    {
        return Message::None;
    }
    m_turns.HasAnswer(MonotonicNs());
    return Take();
}

Message
AgentChannel::Take()
{
    m_seen = m_control->simulatorSequence.load(std::memory_order_acquire);
    if (m_header->simulatorLayoutHash != ChannelLayoutHash())
    {
        throw ChannelError(DIFFERENT_BUILDS);
    }
    // Read once: the other side may continue to write.
    const uint32_t rowCount = m_control->rowCount;
    if (rowCount > m_rows.size())
    {
        throw ChannelError("the simulator sent more rows than the channel holds");
    }
    m_kind = static_cast<Message>(m_control->message);
    m_rowCount = rowCount;
    m_ourTurn = true;
    m_due = CountDue();
    return m_kind;
}

int64_t
AgentChannel::CountDue() const
{
    const auto rows = m_rows.first(m_rowCount);
    switch (m_kind)
    {
    case Message::Decisions:
        return std::ranges::count_if(rows, &DecisionRow::NeedsAction);
    case Message::Transitions:
        return 0;
    case Message::Copied: // it asks for what the message before asked for
        return m_due;
    default:
        return -1;
    }
}

int
AgentChannel::WaitAny(const std::vector<AgentChannel*>& ends, double timeoutS)
{
    const auto find = [&]() -> int
    {
        for (size_t i = 0; i < ends.size(); ++i)
        {
            if (ends[i]->HasMessage())
            {
                return static_cast<int>(i);
            }
        }
        return -1;
    };
    int found = find();
    if (found >= 0 || ends.empty() || !(timeoutS > 0))
    {
        return found;
    }
    if (ends.front()->m_spin.AwaitUntil([&] { return (found = find()) >= 0; }))
    {
        return found;
    }
    for (AgentChannel* end : ends)
    {
        end->m_control->agentSleeps.store(1, std::memory_order_seq_cst);
    }
    found = find();
    if (found < 0)
    {
        std::vector<FutexWord> words(ends.size());
        for (size_t i = 0; i < ends.size(); ++i)
        {
            words[i] = {&ends[i]->m_control->simulatorSequence, ends[i]->m_seen};
        }
        FutexWaitAny(words, ToNs(timeoutS));
        found = find();
    }
    for (AgentChannel* end : ends)
    {
        end->m_control->agentSleeps.store(0, std::memory_order_relaxed);
    }
    return found;
}

void
AgentChannel::CheckSend(Command command, uint32_t actionCount) const
{
    if (!m_ourTurn)
    {
        throw ChannelError("it is the simulator's turn: wait for its message first");
    }
    if (actionCount > m_actions.size())
    {
        throw ChannelError(std::to_string(actionCount) + " actions do not fit a channel of " +
                           std::to_string(m_actions.size()));
    }
    const auto actions = m_actions.first(command == Command::Step ? actionCount : 0);
    if (!std::all_of(actions.begin(), actions.end(), std::mem_fn(&ActionRow::IsValid)))
    {
        throw std::invalid_argument(INVALID_ACTION);
    }
}

void
AgentChannel::HandOver(Command command, uint32_t actionCount, const Place& place)
{
    m_ourTurn = false;
    m_control->command = static_cast<uint32_t>(command);
    m_control->actionCount = actionCount;
    m_control->waiting = static_cast<uint32_t>(place.way);
    m_control->core = place.core;
    FutexAdvance(m_control->agentSequence, m_control->simulatorSleeps);
}

void
AgentChannel::Send(Command command, uint32_t actionCount)
{
    CheckSend(command, actionCount);
    m_turns.Sends(MonotonicNs());
    HandOver(command, actionCount, {m_turns.Way(), sched_getcpu()});
    if (m_bell)
    {
        m_bell->Ring();
    }
    m_turns.HasSent(MonotonicNs());
}

void
AgentChannel::Branch(const AgentChannel& other, int outputFd, const CopyTerms& terms)
{
    m_control->copyFiles = {.channel = other.ChannelFd(),
                            .blob = other.BlobFd(),
                            .output = outputFd};
    m_control->copyTerms = terms;
    Send(Command::Branch);
}

uint64_t
AgentChannel::Heartbeat() const
{
    const auto& beats = m_bell ? m_bell->Heartbeat() : m_control->heartbeat;
    return beats.load(std::memory_order_relaxed);
}

std::string
AgentChannel::ReadBlob() const
{
    return ReadBlobFile(m_blobFd, m_control->simulatorBlobBytes);
}

void
AgentChannel::WriteBlob(std::string_view text)
{
    WriteBlobFile(m_blobFd, text);
    m_control->agentBlobBytes = text.size();
}

} // namespace ns3::env
