// SPDX-License-Identifier: GPL-2.0-or-later
// One end of a shared-memory segment of ns3-ai, Python's or the simulator's.
#include "segment-end.h"

#include "ns3_env/cpp/channel/futex.h"

#include <algorithm>
#include <atomic>
#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/vector.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <climits>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <type_traits>
#include <unistd.h>

namespace ns3::env::ns3ai
{

namespace
{

constexpr int64_t LEAST_NAP_NS = 20'000;
constexpr int64_t LONGEST_NAP_NS = 2'000'000;
constexpr int64_t WAITED_TO_NAP = 8; ///< a nap is this fraction of the time waited so far

static_assert(offsetof(SyncBlock, toPythonEmpty) == 0 && offsetof(SyncBlock, finished) == 4,
              "the four semaphores are one word");

/// The four semaphores as a futex; null if the word is not aligned as a futex must be.
std::atomic<uint32_t>*
WordOf(SyncBlock& block)
{
    const auto address = reinterpret_cast<uintptr_t>(&block);
    return address % sizeof(uint32_t) == 0 ? reinterpret_cast<std::atomic<uint32_t>*>(address)
                                           : nullptr;
}

bool
TryTake(volatile uint8_t& semaphore)
{
    uint8_t value = __atomic_load_n(&semaphore, __ATOMIC_SEQ_CST);
    while (value > 0)
    {
        if (__atomic_compare_exchange_n(&semaphore,
                                        &value,
                                        static_cast<uint8_t>(value - 1),
                                        false,
                                        __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        {
            return true;
        }
    }
    return false;
}

} // namespace

void
Post(SyncBlock& block, volatile uint8_t& semaphore)
{
    __atomic_fetch_add(&semaphore, uint8_t{1}, __ATOMIC_SEQ_CST);
    if (std::atomic<uint32_t>* word = WordOf(block))
    {
        syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
}

bool
ByteWait::Take(SyncBlock& block, volatile uint8_t& semaphore, int64_t timeoutNs)
{
    const bool goesOn = m_since != 0;
    if (goesOn ? TryTake(semaphore) : m_spin.AwaitUntil([&] { return TryTake(semaphore); }))
    {
        m_since = 0;
        return true;
    }
    const int64_t began = MonotonicNs();
    if (!goesOn)
    {
        m_since = began;
    }
    std::atomic<uint32_t>* word = WordOf(block);
    for (int64_t now = began; now - began < timeoutNs; now = MonotonicNs())
    {
        const int64_t nap =
            std::clamp((now - m_since) / WAITED_TO_NAP, LEAST_NAP_NS, LONGEST_NAP_NS);
        const uint32_t seen = word ? word->load(std::memory_order_seq_cst) : 0;
        if (TryTake(semaphore))
        {
            m_since = 0;
            return true;
        }
        if (word)
        {
            FutexWait(*word, seen, nap);
        }
        else
        {
            const timespec time{0, nap};
            nanosleep(&time, nullptr);
        }
    }
    return false;
}

namespace bip = boost::interprocess;

namespace
{

using Bytes = bip::managed_shared_memory;
/// A vector of any plain type, of which only start and size are read here.
using AnyVector =
    bip::vector<std::byte, bip::allocator<std::byte, bip::managed_shared_memory::segment_manager>>;

static_assert(sizeof(GymBuffer) == 1028 && std::is_trivially_copyable_v<GymBuffer>);

/// One direction: its message, and the semaphores of its two states.
struct Lane
{
    uint8_t* data{nullptr};
    uint32_t* size{nullptr}; ///< null: every message has full capacity
    size_t capacity{0};
    volatile uint8_t* empty{nullptr};
    volatile uint8_t* full{nullptr};
};

Lane
LaneOf(GymBuffer& buffer, volatile uint8_t& empty, volatile uint8_t& full)
{
    return {buffer.buffer, &buffer.size, sizeof buffer.buffer, &empty, &full};
}

/// The inode that has the segment's name; 0 if none has.
ino_t
FileOf(const std::string& segment)
{
    struct stat info{};
    return stat(("/dev/shm/" + segment).c_str(), &info) == 0 ? info.st_ino : 0;
}

int64_t
ToNs(double seconds)
{
    return static_cast<int64_t>(std::clamp(seconds, 0.0, 1e6) * 1e9);
}

template <typename T>
T&
Find(bip::managed_shared_memory& memory, const std::string& segment, const std::string& name)
{
    const auto [found, count] = memory.find<T>(name.c_str());
    if (!found || count != 1)
    {
        throw SegmentError("the segment '" + segment + "' has no object '" + name +
                           "': the peer uses other names, or a Boost of another layout");
    }
    return *found;
}

} // namespace

struct SegmentEnd::State
{
    Names names;
    bip::managed_shared_memory memory;
    ino_t file{0};
    pid_t owner{0}; ///< the process that created the segment; 0: it was opened
    SyncBlock* block{nullptr};
    Lane out;
    Lane in;
    size_t rows{1};
    ByteWait wait;

    Lane VectorLane(const std::string& name,
                    size_t elementBytes,
                    volatile uint8_t& empty,
                    volatile uint8_t& full)
    {
        auto& vector = Find<AnyVector>(memory, names.segment, name);
        const size_t bytes = vector.size() * elementBytes;
        auto* first = reinterpret_cast<uint8_t*>(vector.data());
        if (vector.empty())
        {
            throw SegmentError("the vector '" + name + "' is empty: Python resizes it first");
        }
        const auto* begin = static_cast<const uint8_t*>(memory.get_address());
        if (first < begin || first + bytes > begin + memory.get_size() ||
            memory.get_segment_manager()->size(first) < bytes)
        {
            throw SegmentError("the vector '" + name + "' of " + std::to_string(vector.size()) +
                               " elements has no room for elements of " +
                               std::to_string(elementBytes) + " B: its struct is another one");
        }
        rows = vector.size();
        return {first, nullptr, bytes, &empty, &full};
    }
};

SegmentEnd::SegmentEnd(std::unique_ptr<State> state)
    : m_state(std::move(state))
{
}

SegmentEnd::~SegmentEnd()
{
    if (m_state && m_state->owner == getpid())
    {
        Unlink();
    }
}

SegmentEnd::SegmentEnd(SegmentEnd&&) noexcept = default;
SegmentEnd& SegmentEnd::operator=(SegmentEnd&&) noexcept = default;

SegmentEnd
SegmentEnd::Create(const Names& names, size_t bytes)
{
    auto state = std::make_unique<State>();
    state->names = names;
    try
    {
        bip::shared_memory_object::remove(names.segment.c_str());
        state->memory = bip::managed_shared_memory(bip::create_only, names.segment.c_str(), bytes);
        state->file = FileOf(names.segment);
        state->owner = getpid();
        auto& in = *state->memory.construct<GymBuffer>(names.toPython.c_str())();
        auto& out = *state->memory.construct<GymBuffer>(names.toSimulator.c_str())();
        SyncBlock& block = *state->memory.construct<SyncBlock>(names.lockable.c_str())();
        state->block = &block;
        state->in = LaneOf(in, block.toPythonEmpty, block.toPythonFull);
        state->out = LaneOf(out, block.toSimulatorEmpty, block.toSimulatorFull);
    }
    catch (const bip::interprocess_exception& error)
    {
        if (state->owner != 0)
        {
            bip::shared_memory_object::remove(names.segment.c_str());
        }
        throw SegmentError("cannot make the segment '" + names.segment + "' of " +
                           std::to_string(bytes) + " B: " + error.what());
    }
    return SegmentEnd(std::move(state));
}

namespace
{

/// Opens the segment as it is.
bip::managed_shared_memory
Opened(const std::string& segment)
{
    try
    {
        return {bip::open_only, segment.c_str()};
    }
    catch (const bip::interprocess_exception& error)
    {
        throw SegmentError("there is no segment '" + segment + "' (" + error.what() +
                           "): ns3-ai's Python makes it before it starts the simulator");
    }
}

} // namespace

SegmentEnd
SegmentEnd::Open(const Names& names)
{
    auto state = std::make_unique<State>();
    state->names = names;
    state->memory = Opened(names.segment);
    state->file = FileOf(names.segment);
    auto& out = Find<GymBuffer>(state->memory, names.segment, names.toPython);
    auto& in = Find<GymBuffer>(state->memory, names.segment, names.toSimulator);
    auto& block = Find<SyncBlock>(state->memory, names.segment, names.lockable);
    state->block = &block;
    state->out = LaneOf(out, block.toPythonEmpty, block.toPythonFull);
    state->in = LaneOf(in, block.toSimulatorEmpty, block.toSimulatorFull);
    return SegmentEnd(std::move(state));
}

SegmentEnd
SegmentEnd::OpenVectors(const Names& names, size_t stateBytes, size_t actionBytes)
{
    auto state = std::make_unique<State>();
    state->names = names;
    state->memory = Opened(names.segment);
    state->file = FileOf(names.segment);
    auto& block = Find<SyncBlock>(state->memory, names.segment, names.lockable);
    state->block = &block;
    state->in = state->VectorLane(names.toSimulator,
                                  actionBytes,
                                  block.toSimulatorEmpty,
                                  block.toSimulatorFull);
    const size_t actions = state->rows;
    state->out =
        state->VectorLane(names.toPython, stateBytes, block.toPythonEmpty, block.toPythonFull);
    if (actions != state->rows)
    {
        throw SegmentError("the vector '" + names.toPython + "' has " +
                           std::to_string(state->rows) + " elements, '" + names.toSimulator + "' " +
                           std::to_string(actions) + ": they must be as many");
    }
    return SegmentEnd(std::move(state));
}

size_t
SegmentEnd::SendCapacity() const
{
    return m_state->out.capacity;
}

size_t
SegmentEnd::Rows() const
{
    return m_state->rows;
}

bool
SegmentEnd::Send(std::string_view message, double timeoutS)
{
    const Lane& lane = m_state->out;
    if (message.size() > lane.capacity || (!lane.size && message.size() != lane.capacity))
    {
        throw TooLarge(message.size());
    }
    if (!m_state->wait.Take(*m_state->block, *lane.empty, ToNs(timeoutS)))
    {
        return false;
    }
    std::memcpy(lane.data, message.data(), message.size());
    if (lane.size)
    {
        *lane.size = static_cast<uint32_t>(message.size());
    }
    Post(*m_state->block, *lane.full);
    return true;
}

std::optional<std::string>
SegmentEnd::Receive(double timeoutS)
{
    const Lane& lane = m_state->in;
    if (!m_state->wait.Take(*m_state->block, *lane.full, ToNs(timeoutS)))
    {
        return std::nullopt;
    }
    const size_t bytes = lane.size ? *lane.size : lane.capacity; // read once
    if (bytes > lane.capacity)
    {
        throw TooLarge(bytes);
    }
    std::string message(reinterpret_cast<const char*>(lane.data), bytes);
    Post(*m_state->block, *lane.empty);
    return message;
}

bool
SegmentEnd::Finish(double timeoutS)
{
    if (!m_state->wait.Take(*m_state->block, *m_state->out.empty, ToNs(timeoutS)))
    {
        return false;
    }
    m_state->block->finished = true;
    Post(*m_state->block, *m_state->out.full);
    return true;
}

bool
SegmentEnd::Finished() const
{
    return m_state->block->finished;
}

void
SegmentEnd::Unlink() noexcept
{
    if (m_state->file != 0 && FileOf(m_state->names.segment) == m_state->file)
    {
        bip::shared_memory_object::remove(m_state->names.segment.c_str());
    }
    m_state->file = 0;
}

} // namespace ns3::env::ns3ai
