// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator's end of the channel.
#include "simulator-channel.h"

#include "futex.h"
#include "lifeline.h"
#include "process-copy.h"
#include "shared-region.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <unistd.h>
#include <utility>

namespace ns3::env
{

namespace
{

void
CopyText(char* to, size_t size, const char* from)
{
    std::memset(to, 0, size);
    std::memcpy(to, from, std::min(size - 1, std::strlen(from)));
}

} // namespace

SimulatorChannel::SimulatorChannel(int channelFd)
    : SimulatorChannel(channelFd, -1)
{
    m_blobFd = m_header->blobFd;
}

SimulatorChannel::SimulatorChannel(int channelFd, int blobFd)
    : m_region(SharedRegion::Map(channelFd, ROWS_OFFSET)),
      m_header(reinterpret_cast<ChannelHeader*>(m_region.Data())),
      m_blobFd(blobFd)
{
    if (m_header->magic != CHANNEL_MAGIC)
    {
        throw ChannelError("file descriptor " + std::to_string(channelFd) + " is no channel");
    }
    if (m_header->version != CHANNEL_VERSION || m_header->agentLayoutHash != ChannelLayoutHash())
    {
        throw ChannelError(DIFFERENT_BUILDS);
    }
    // Read once: only the checked value is used, whatever the other side does to the header later.
    const uint32_t capacity = m_header->capacity;
    if (capacity == 0 || m_header->regionBytes != m_region.Bytes() ||
        m_region.Bytes() != RegionBytes(capacity) || m_header->controlOffset != CONTROL_OFFSET ||
        m_header->rowsOffset != ROWS_OFFSET || m_header->actionsOffset != ActionsOffset(capacity))
    {
        throw ChannelError("the channel's region has the wrong size");
    }
    m_control = reinterpret_cast<ChannelControl*>(m_region.Data() + CONTROL_OFFSET);
    m_rows = {reinterpret_cast<DecisionRow*>(m_region.Data() + ROWS_OFFSET), capacity};
    m_actionRows = reinterpret_cast<ActionRow*>(m_region.Data() + ActionsOffset(capacity));
    m_actions.reserve(capacity);
    m_heartbeat = &m_control->heartbeat;

    size_t i = 0;
    for (const FieldSpec& spec : ObservationFields())
    {
        SchemaField& field = m_header->fields[i++];
        CopyText(field.name, sizeof field.name, spec.name);
        CopyText(field.unit, sizeof field.unit, spec.unit);
        CopyText(field.normaliser, sizeof field.normaliser, spec.normaliser);
        field.low = spec.low;
        field.high = spec.high;
    }
    m_header->fieldCount = FIELD_COUNT;
    m_header->actionWidth = ACTION_WIDTH;
    m_header->simulatorLayoutHash = ChannelLayoutHash();
}

void
SimulatorChannel::Publish(Message kind, int64_t timePs, uint32_t rowCount)
{
    if (rowCount > m_rows.size())
    {
        throw ChannelError(std::to_string(rowCount) + " rows do not fit a channel of " +
                           std::to_string(m_rows.size()));
    }
    const auto rows = m_rows.first(rowCount);
    m_expected = 0;
    if (kind != Message::Transitions)
    {
        m_expected = static_cast<uint32_t>(std::count_if(rows.begin(),
                                                         rows.end(),
                                                         [](const DecisionRow& r)
                                                         { return r.NeedsAction(); }));
    }
    m_published = kind;
    m_control->message = static_cast<uint32_t>(kind);
    m_control->rowCount = rowCount;
    m_control->timePs = timePs;
    FutexAdvance(m_control->simulatorSequence, m_control->agentSleeps);
}

void
SimulatorChannel::Publish(Message kind, int64_t timePs, std::span<const DecisionRow> rows)
{
    if (rows.size() > m_rows.size())
    {
        throw ChannelError(std::to_string(rows.size()) + " rows do not fit a channel of " +
                           std::to_string(m_rows.size()));
    }
    std::copy(rows.begin(), rows.end(), m_rows.begin());
    Publish(kind, timePs, static_cast<uint32_t>(rows.size()));
}

void
SimulatorChannel::Share(std::atomic<uint64_t>& heartbeat, std::function<void()> pause)
{
    m_heartbeat = &heartbeat;
    m_pause = std::move(pause);
}

void
SimulatorChannel::AwaitCommand()
{
    auto& sequence = m_control->agentSequence;
    if (!Spin(m_waiting, m_spin, sequence, m_seen))
    {
        m_control->simulatorSleeps.store(1, std::memory_order_seq_cst);
        while (sequence.load(std::memory_order_seq_cst) == m_seen)
        {
            FutexWait(sequence, m_seen);
        }
        m_control->simulatorSleeps.store(0, std::memory_order_relaxed);
    }
    m_waiting = static_cast<Waiting>(m_control->waiting);
    m_core.Take({m_waiting, m_control->core});
}

Command
SimulatorChannel::Wait()
{
    if (!m_pause)
    {
        AwaitCommand();
    }
    while (!HasCommand())
    {
        m_pause();
    }
    m_seen = m_control->agentSequence.load(std::memory_order_acquire);
    const auto command = static_cast<Command>(m_control->command);
    m_actions.clear();
    switch (command)
    {
    case Command::Step:
        if (m_published != Message::Decisions && m_published != Message::Transitions)
        {
            throw ChannelError("a step where a reset was due");
        }
        if (m_control->actionCount != m_expected)
        {
            throw ChannelError("got " + std::to_string(m_control->actionCount) + " actions for " +
                               std::to_string(m_expected) + " rows that need one");
        }
        m_actions.assign(m_actionRows, m_actionRows + m_expected);
        if (!std::all_of(m_actions.begin(), m_actions.end(), std::mem_fn(&ActionRow::IsValid)))
        {
            throw ChannelError(INVALID_ACTION);
        }
        return command;
    case Command::Branch:
        if (m_published != Message::Decisions && m_published != Message::Transitions)
        {
            throw ChannelError("a branch where a reset was due");
        }
        return command;
    case Command::Reset:
    case Command::Close:
        return command;
    case Command::None:
        break;
    }
    throw ChannelError("unknown command " + std::to_string(m_control->command));
}

std::optional<CopyTerms>
SimulatorChannel::Branch()
{
    const CopyFiles& wanted = m_control->copyFiles;
    const CopyTerms terms = m_control->copyTerms;
    const CopyFiles files{.channel = OpenFileOf(AgentPid(), wanted.channel),
                          .blob = OpenFileOf(AgentPid(), wanted.blob),
                          .output = OpenFileOf(AgentPid(), wanted.output)};
    const bool open = files.channel >= 0 && files.blob >= 0 && files.output >= 0;
    const pid_t copy = open ? CopyProcess() : -1;
    if (copy == 0)
    {
        MoveTo(files);
        return terms;
    }
    m_control->copyPid = copy > 0 ? copy : -errno;
    for (const int fd : {files.channel, files.blob, files.output})
    {
        close(fd);
    }
    m_control->message = static_cast<uint32_t>(Message::Copied);
    FutexAdvance(m_control->simulatorSequence, m_control->agentSleeps);
    return std::nullopt;
}

void
SimulatorChannel::MoveTo(const CopyFiles& files)
{
    StartLifeline(AgentPid());
    dup2(files.output, STDOUT_FILENO);
    dup2(files.output, STDERR_FILENO);
    close(files.output);
    m_core.Take({Waiting::Adaptive, -1});
    SimulatorChannel other(files.channel, files.blob);
    const Message asked = m_published;
    const int64_t timePs = m_control->timePs;
    const auto rows = m_rows.first(
        asked == Message::Decisions ? std::min<size_t>(m_control->rowCount, m_rows.size()) : 0);
    std::copy(rows.begin(), rows.end(), other.m_rows.begin());
    close(m_blobFd);
    *this = std::move(other);
    Publish(asked, timePs, static_cast<uint32_t>(rows.size()));
}

std::string
SimulatorChannel::ReadBlob() const
{
    return ReadBlobFile(m_blobFd, m_control->agentBlobBytes);
}

void
SimulatorChannel::WriteBlob(std::string_view text)
{
    WriteBlobFile(m_blobFd, text);
    m_control->simulatorBlobBytes = text.size();
}

} // namespace ns3::env
