// SPDX-License-Identifier: GPL-2.0-or-later
// One end of a shared-memory segment of ns3-ai, Python's or the simulator's.
#pragma once

#include "ns3_env/cpp/channel/futex.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ns3::env::ns3ai
{

/// ns3-ai's synchronisation block: four semaphores of a byte each, and whether the simulator has finished.
struct SyncBlock
{
    volatile uint8_t toPythonEmpty{1};
    volatile uint8_t toPythonFull{0};
    volatile uint8_t toSimulatorEmpty{1};
    volatile uint8_t toSimulatorFull{0};
    bool finished{false};
};

/// Counts a semaphore up; wakes a sleeper in ByteWait.
void Post(SyncBlock& block, volatile uint8_t& semaphore);

/// Waits for semaphores of a block.
///
/// A foreign peer spins, adds 1 to a byte and wakes none: this side spins for a moment (AdaptiveSpin), then looks
/// at intervals that grow with the time waited, to 2 ms at most. A peer of our own wakes it: its Post()
/// calls the futex of the four bytes.
class ByteWait
{
  public:
    /// Counts `semaphore` down; false if it stayed 0 for `timeoutNs`. The next call continues to wait.
    bool Take(SyncBlock& block, volatile uint8_t& semaphore, int64_t timeoutNs);

  private:
    AdaptiveSpin m_spin;
    int64_t m_since{0}; ///< when this wait began; 0: not waiting
};

/// Names of the segment and of the objects in it.
struct Names
{
    std::string segment;
    std::string toPython;
    std::string toSimulator;
    std::string lockable;
};

/// The message of ns3-ai's Gym interface: the bytes of a Protocol Buffers message, at most 1 KiB.
struct GymBuffer
{
    uint8_t buffer[1024];
    uint32_t size;
};

/// A missing segment, or one with unexpected content.
class SegmentError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// A message too large for a buffer; what() is the bytes that it needs.
class TooLarge : public std::length_error
{
  public:
    explicit TooLarge(size_t bytes)
        : std::length_error(std::to_string(bytes))
    {
    }
};

/// One end of a segment. Messages go to and fro in turns; each is copied out before the peer may write the next.
///
/// Places of objects in it depend on Boost's version: BOOST_INTERPROCESS_SEGMENT_MANAGER_ABI is 1 for releases up to
/// 1.84, 2 for those from 1.87 on. This is compiled for both, into a module each.
class SegmentEnd
{
  public:
    /// Python's end: creates the segment and replaces an old one. \throws SegmentError
    static SegmentEnd Create(const Names& names, size_t bytes);
    /// The simulator's end, of the Gym interface. \throws SegmentError
    static SegmentEnd Open(const Names& names);
    /// The simulator's end, of the vector interface; elements of the given sizes. \throws SegmentError
    static SegmentEnd OpenVectors(const Names& names, size_t stateBytes, size_t actionBytes);

    /// The end that created the segment also removes its name.
    ~SegmentEnd();
    SegmentEnd(SegmentEnd&&) noexcept;
    SegmentEnd& operator=(SegmentEnd&&) noexcept;

    /// Most bytes of a message; of a vector, the bytes of every one.
    size_t SendCapacity() const;
    /// Elements of the vectors; 1 in the Gym interface.
    size_t Rows() const;

    /// Sends a message; false if the peer has not read the last one within `timeoutS`. \throws TooLarge
    bool Send(std::string_view message, double timeoutS);
    /// Receives a message; nothing if the peer has not written within `timeoutS`. \throws TooLarge for an impossible
    /// length
    std::optional<std::string> Receive(double timeoutS);
    /// Sends an empty last message: nothing follows. Returns false as Send() does.
    bool Finish(double timeoutS);
    /// Reports whether the simulator has announced the end.
    bool Finished() const;

    /// Removes the segment's name; mappings stay. Does nothing if the name belongs to another segment by now.
    void Unlink() noexcept;

  private:
    struct State;
    explicit SegmentEnd(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace ns3::env::ns3ai
