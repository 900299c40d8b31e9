// SPDX-License-Identifier: GPL-2.0-or-later
#include "channel.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ns3::rdma
{

namespace
{

constexpr uint64_t MAGIC = 0x6e73335f72646d61; // "ns3_rdma"
constexpr uint32_t VERSION = 1;

constexpr size_t
RoundUp(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

constexpr size_t CONTROL_OFFSET = RoundUp(sizeof(ChannelHeader), 64);
constexpr size_t ROWS_OFFSET = RoundUp(CONTROL_OFFSET + sizeof(ChannelControl), 64);

constexpr size_t
ActionsOffset(uint32_t capacity)
{
    return RoundUp(ROWS_OFFSET + size_t{capacity} * sizeof(DecisionRow), 64);
}

constexpr size_t
RegionBytes(uint32_t capacity)
{
    return RoundUp(ActionsOffset(capacity) + size_t{capacity} * sizeof(ActionRow), 4096);
}

timespec
ToTimespec(int64_t ns)
{
    timespec t{};
    t.tv_sec = ns / 1'000'000'000;
    t.tv_nsec = ns % 1'000'000'000;
    return t;
}

/// Sleeps while `word` is `seen`; also returns for signals, or for nothing.
void
FutexWait(const std::atomic<uint32_t>& word, uint32_t seen, const timespec* timeout)
{
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, timeout, nullptr, 0);
}

void
FutexWake(std::atomic<uint32_t>& word)
{
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Makes everything written so far visible, and wakes the peer if it sleeps.
/// Sequentially consistent on both sides: either we see that it sleeps, or it sees the new number.
void
Advance(std::atomic<uint32_t>& sequence, const std::atomic<uint32_t>& peerSleeps)
{
    sequence.store(sequence.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    if (peerSleeps.load(std::memory_order_seq_cst) != 0)
    {
        FutexWake(sequence);
    }
}

std::string
ReadAll(int fd, uint64_t bytes)
{
    std::string text(bytes, '\0');
    size_t done = 0;
    while (done < bytes)
    {
        const ssize_t n = pread(fd, text.data() + done, bytes - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR)
        {
            continue;
        }
        if (n <= 0)
        {
            throw ChannelError("the blob is shorter than its sender said");
        }
        done += static_cast<size_t>(n);
    }
    return text;
}

void
WriteAll(int fd, std::string_view text)
{
    if (ftruncate(fd, static_cast<off_t>(text.size())) != 0)
    {
        FailWithErrno("cannot size the blob");
    }
    size_t done = 0;
    while (done < text.size())
    {
        const ssize_t n =
            pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
        if (n < 0 && errno != EINTR)
        {
            FailWithErrno("cannot write the blob");
        }
        done += n > 0 ? static_cast<size_t>(n) : 0;
    }
}

/// FNV-1a, 64 bit.
class Hash
{
  public:
    void Add(const void* data, size_t bytes)
    {
        for (size_t i = 0; i < bytes; ++i)
        {
            m_value = (m_value ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
        }
    }

    void Add(uint64_t v) { Add(&v, sizeof v); }

    void Add(const char* text) { Add(text, std::strlen(text) + 1); }

    uint64_t Value() const { return m_value; }

  private:
    uint64_t m_value{0xcbf29ce484222325};
};

void
CopyText(char* to, size_t size, const char* from)
{
    std::memset(to, 0, size);
    std::memcpy(to, from, std::min(size - 1, std::strlen(from)));
}

} // namespace

uint64_t
ChannelLayoutHash()
{
    Hash hash;
    hash.Add(uint64_t{VERSION});
    for (size_t size : {sizeof(ChannelHeader),
                        sizeof(ChannelControl),
                        sizeof(DecisionRow),
                        sizeof(ActionRow),
                        CONTROL_OFFSET,
                        ROWS_OFFSET,
                        FIELD_COUNT})
    {
        hash.Add(uint64_t{size});
    }
    for (const FieldSpec& field : TelemetryFields())
    {
        hash.Add(field.name);
        hash.Add(field.unit);
        hash.Add(field.normaliser);
        hash.Add(std::bit_cast<uint64_t>(field.low));
        hash.Add(std::bit_cast<uint64_t>(field.high));
    }
    return hash.Value();
}

// SimulatorEnd

SimulatorEnd::SimulatorEnd(int channelFd)
    : m_region(SharedRegion::Map(channelFd, ROWS_OFFSET)),
      m_header(reinterpret_cast<ChannelHeader*>(m_region.Data()))
{
    if (m_header->magic != MAGIC)
    {
        throw ChannelError("file descriptor " + std::to_string(channelFd) + " is no channel");
    }
    if (m_header->version != VERSION || m_header->agentLayoutHash != ChannelLayoutHash())
    {
        throw ChannelError(
            "the simulator and the Python module ns3_env._native are of different builds: "
            "install the package again");
    }
    const uint32_t capacity = m_header->capacity;
    if (m_header->regionBytes != m_region.Bytes() || m_region.Bytes() != RegionBytes(capacity))
    {
        throw ChannelError("the channel's region has the wrong size");
    }
    m_control = reinterpret_cast<ChannelControl*>(m_region.Data() + m_header->controlOffset);
    m_rows = {reinterpret_cast<DecisionRow*>(m_region.Data() + m_header->rowsOffset), capacity};
    m_actionRows = reinterpret_cast<ActionRow*>(m_region.Data() + m_header->actionsOffset);

    size_t i = 0;
    for (const FieldSpec& spec : TelemetryFields())
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
SimulatorEnd::Publish(Message kind, int64_t timePs, uint32_t rowCount)
{
    if (rowCount > m_rows.size())
    {
        throw ChannelError(std::to_string(rowCount) + " rows do not fit a channel of " +
                           std::to_string(m_rows.size()));
    }
    const auto rows = m_rows.first(rowCount);
    m_expected =
        static_cast<uint32_t>(std::count_if(rows.begin(),
                                            rows.end(),
                                            [](const DecisionRow& r) { return r.NeedsAction(); }));
    m_control->message = static_cast<uint32_t>(kind);
    m_control->rowCount = rowCount;
    m_control->timePs = timePs;
    Beat();
    Advance(m_control->simulatorSequence, m_control->agentSleeps);
}

void
SimulatorEnd::Publish(Message kind, int64_t timePs, std::span<const DecisionRow> rows)
{
    if (rows.size() > m_rows.size())
    {
        throw ChannelError(std::to_string(rows.size()) + " rows do not fit a channel of " +
                           std::to_string(m_rows.size()));
    }
    std::copy(rows.begin(), rows.end(), m_rows.begin());
    Publish(kind, timePs, static_cast<uint32_t>(rows.size()));
}

Command
SimulatorEnd::Wait()
{
    auto& sequence = m_control->agentSequence;
    if (!m_spin.Await(sequence, m_seen))
    {
        m_control->simulatorSleeps.store(1, std::memory_order_seq_cst);
        while (sequence.load(std::memory_order_seq_cst) == m_seen)
        {
            FutexWait(sequence, m_seen, nullptr);
        }
        m_control->simulatorSleeps.store(0, std::memory_order_relaxed);
    }
    m_seen = sequence.load(std::memory_order_acquire);
    Beat();
    const auto command = static_cast<Command>(m_control->command);
    m_actions = {};
    switch (command)
    {
    case Command::Step:
        if (m_control->actionCount != m_expected)
        {
            throw ChannelError("got " + std::to_string(m_control->actionCount) + " actions for " +
                               std::to_string(m_expected) + " rows that need one");
        }
        m_actions = {m_actionRows, m_expected};
        return command;
    case Command::Reset:
    case Command::Close:
        return command;
    case Command::None:
        break;
    }
    throw ChannelError("unknown command " + std::to_string(m_control->command));
}

std::string
SimulatorEnd::ReadBlob() const
{
    return ReadAll(m_header->blobFd, m_control->agentBlobBytes);
}

void
SimulatorEnd::WriteBlob(std::string_view text)
{
    WriteAll(m_header->blobFd, text);
    m_control->simulatorBlobBytes = text.size();
}

// AgentEnd

AgentEnd::AgentEnd(uint32_t capacity)
    : m_region(SharedRegion::Create("ns3_env-channel", RegionBytes(capacity)))
{
    if (capacity == 0)
    {
        throw ChannelError("a channel needs room for at least one row");
    }
    m_blobFd = memfd_create("ns3_env-blob", MFD_CLOEXEC);
    if (m_blobFd < 0)
    {
        FailWithErrno("cannot make a memory file");
    }
    m_header = new (m_region.Data()) ChannelHeader{};
    m_header->magic = MAGIC;
    m_header->version = VERSION;
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

AgentEnd::~AgentEnd()
{
    close(m_blobFd);
}

bool
AgentEnd::HasMessage() const
{
    return m_control->simulatorSequence.load(std::memory_order_acquire) != m_seen;
}

Message
AgentEnd::Wait(double timeoutS)
{
    if (!HasMessage())
    {
        if (timeoutS <= 0)
        {
            return Message::None;
        }
        auto& sequence = m_control->simulatorSequence;
        if (!m_spin.Await(sequence, m_seen))
        {
            const timespec timeout = ToTimespec(static_cast<int64_t>(timeoutS * 1e9));
            m_control->agentSleeps.store(1, std::memory_order_seq_cst);
            if (sequence.load(std::memory_order_seq_cst) == m_seen)
            {
                FutexWait(sequence, m_seen, &timeout);
            }
            m_control->agentSleeps.store(0, std::memory_order_relaxed);
            if (!HasMessage())
            {
                return Message::None;
            }
        }
    }
    m_seen = m_control->simulatorSequence.load(std::memory_order_acquire);
    if (m_header->simulatorLayoutHash != ChannelLayoutHash())
    {
        throw ChannelError(
            "the simulator and the Python module ns3_env._native are of different builds: "
            "install the package again");
    }
    if (m_control->rowCount > m_rows.size())
    {
        throw ChannelError("the simulator sent more rows than the channel holds");
    }
    m_kind = static_cast<Message>(m_control->message);
    m_rowCount = m_control->rowCount;
    m_ourTurn = true;
    return m_kind;
}

int
AgentEnd::WaitAny(const std::vector<AgentEnd*>& ends, double timeoutS)
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
    if (found >= 0 || ends.empty() || timeoutS <= 0)
    {
        return found;
    }
    if (ends.front()->m_spin.AwaitUntil([&] { return (found = find()) >= 0; }))
    {
        return found;
    }
    for (AgentEnd* end : ends)
    {
        end->m_control->agentSleeps.store(1, std::memory_order_seq_cst);
    }
    found = find();
    if (found < 0)
    {
        const auto timeoutNs = static_cast<int64_t>(timeoutS * 1e9);
        bool slept = false;
#if defined(SYS_futex_waitv) && defined(FUTEX_32)
        if (ends.size() <= 128) // FUTEX_WAITV_MAX
        {
            std::vector<futex_waitv> waiters(ends.size());
            for (size_t i = 0; i < ends.size(); ++i)
            {
                waiters[i].val = ends[i]->m_seen;
                waiters[i].uaddr =
                    reinterpret_cast<uintptr_t>(&ends[i]->m_control->simulatorSequence);
                waiters[i].flags = FUTEX_32;
            }
            const timespec deadline = ToTimespec(MonotonicNs() + timeoutNs);
            const long rc = syscall(SYS_futex_waitv,
                                    waiters.data(),
                                    waiters.size(),
                                    0,
                                    &deadline,
                                    CLOCK_MONOTONIC);
            slept = rc >= 0 || errno != ENOSYS;
        }
#endif
        if (!slept)
        {
            // Before Linux 5.16: sleep on one of them, briefly, and look at the others between.
            const timespec slice = ToTimespec(std::min<int64_t>(timeoutNs, 200'000));
            FutexWait(ends.front()->m_control->simulatorSequence, ends.front()->m_seen, &slice);
        }
        found = find();
    }
    for (AgentEnd* end : ends)
    {
        end->m_control->agentSleeps.store(0, std::memory_order_relaxed);
    }
    return found;
}

std::span<const SchemaField>
AgentEnd::Fields() const
{
    return {m_header->fields, std::min<size_t>(m_header->fieldCount, FIELD_COUNT)};
}

void
AgentEnd::Send(Command command, uint32_t actionCount)
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
    m_ourTurn = false;
    m_control->command = static_cast<uint32_t>(command);
    m_control->actionCount = actionCount;
    Advance(m_control->agentSequence, m_control->simulatorSleeps);
}

std::string
AgentEnd::ReadBlob() const
{
    return ReadAll(m_blobFd, m_control->simulatorBlobBytes);
}

void
AgentEnd::WriteBlob(std::string_view text)
{
    WriteAll(m_blobFd, text);
    m_control->agentBlobBytes = text.size();
}

} // namespace ns3::rdma
