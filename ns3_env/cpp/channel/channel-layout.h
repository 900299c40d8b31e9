// SPDX-License-Identifier: GPL-2.0-or-later
// The channel's protocol and the layout of its region: messages, commands, rows, control words.
#pragma once

#include "observation-fields.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The protocol, in turns:
///
///   simulator                         agent (Python)
///   Ready                         ->
///                                 <-  Reset (the blob contains the scenario) or Close
///   Decisions (rows)              ->
///                                 <-  Step (an action per row that needs one), Reset or Close
///   Transitions (rows, actions)   ->
///                                 <-  Step (no actions), Reset or Close
///   Decisions or Transitions      ->
///                                 <-  Branch (another channel's files, and how the copy continues)
///   Copied (the copy's process)   ->      and on the other channel, from the copy: the same Decisions, or empty Transitions
///                                 <-  Step, Reset, Close or Branch, as the message before Branch requires
///   EpisodeEnd (blob: results)    ->
///   Error (blob: the error)  ->
///
/// Neither side speaks twice in a row. Both live in one anonymous memory file (memfd) which the agent creates
/// and the simulator inherits, so nothing is left behind if either is killed.
///
/// A simulator that plays several networks has a channel for each, and one doorbell: the agent writes commands, and rings.
namespace ns3::env
{

/// Messages of the simulator.
enum class Message : uint32_t
{
    None = 0,
    Ready = 1,      ///< attached; expects a Reset
    Decisions = 2,  ///< rows are due
    EpisodeEnd = 3, ///< the blob contains the episode's results; expects a Reset
    Error = 4,      ///< the blob describes the error; expects a Reset
    Transitions =
        5, ///< rows, and the actions of a policy in the simulator on them; expects an empty Step
    Copied =
        6, ///< a copy of the process runs, or could not be made; expects the same reply as the message before
    Failed =
        7, ///< the blob describes the fault of one of several networks, which is over; the others go on
};

/// Commands of the agent.
enum class Command : uint32_t
{
    None = 0,
    Step = 1,   ///< actions are there, in the order of the rows that need one
    Reset = 2,  ///< start the episode of the scenario in the blob (also in mid-episode)
    Close = 3,  ///< end the process
    Branch = 4, ///< copy the process; the copy serves another channel of the agent's
};

/// Bits of DecisionRow::flags.
enum RowFlag : uint32_t
{
    ROW_FIRST = 1,      ///< the flow's first decision: no reward
    ROW_TERMINATED = 2, ///< the flow is done: no action
    ROW_TRUNCATED = 4,  ///< the episode was cut: no action
};

/// What a row is of.
enum class RowKind : uint32_t
{
    Flow = 0,
    Port = 1, ///< of a switch; its action is thresholds
};

/// A row of a decision: one flow, or port, that is due.
struct DecisionRow
{
    uint32_t flow{0};  ///< index in the scenario's flow list, or of ports
    int32_t slot{-1};  ///< the flow's slot of that list
    uint32_t flags{0}; ///< RowFlag
    RowKind kind{RowKind::Flow};
    ObservationRecord record{};

    bool NeedsAction() const { return (flags & (ROW_TERMINATED | ROW_TRUNCATED)) == 0; }
};

/// The error of either end for an action that is not right.
inline constexpr const char* INVALID_ACTION =
    "an action's window and rate must be numbers >= 0, and its echo a finite number";

inline constexpr uint32_t ACTION_WIDTH = 3;
static_assert(sizeof(ActionRow) == ACTION_WIDTH * sizeof(double));
static_assert(sizeof(DecisionRow) == 16 + FIELD_COUNT * sizeof(double));
static_assert(std::is_standard_layout_v<DecisionRow> && std::is_trivially_copyable_v<DecisionRow>);

/// A FieldSpec as laid out in the region.
struct SchemaField
{
    char name[32];
    char unit[16];
    char normaliser[64];
    double low;
    double high;
};

/// The region's first part; constant once the simulator has attached.
struct ChannelHeader
{
    // Written by the agent before the simulator starts.
    uint64_t magic;
    uint32_t version;
    uint32_t capacity; ///< rows
    uint64_t agentLayoutHash;
    uint64_t regionBytes;
    uint64_t controlOffset;
    uint64_t rowsOffset;
    uint64_t actionsOffset;
    int32_t blobFd;   ///< of the blob's memory file, the same number in both processes
    int32_t agentPid; ///< the simulator ends when this process does
    // Written by the simulator when it attaches.
    uint64_t simulatorLayoutHash;
    uint32_t fieldCount;
    uint32_t actionWidth;
    SchemaField fields[FIELD_COUNT];
};

/// Files for a copy of the simulator, as descriptors in the agent's process.
struct CopyFiles
{
    int32_t channel;
    int32_t blob;
    int32_t output; ///< receives the copy's output
};

/// Terms on which a copy of the simulator continues.
struct CopyTerms
{
    int64_t untilPs; ///< latest end of its episode; negative: that of the scenario
    uint32_t asks;   ///< 0: no decisions are asked for, and flows keep window and rate
};

/// The words that both sides access; those that each side writes have a separate cache line.
struct ChannelControl
{
    // The simulator's.
    alignas(64) std::atomic<uint32_t> simulatorSequence; ///< futex word: messages sent
    std::atomic<uint32_t> simulatorSleeps;               ///< in futex wait for agentSequence
    uint32_t message;
    uint32_t rowCount;
    int64_t timePs;
    uint64_t simulatorBlobBytes;
    int32_t copyPid; ///< of Copied; negative: errno of the failure
    // The agent's.
    alignas(64) std::atomic<uint32_t> agentSequence; ///< futex word: commands sent
    std::atomic<uint32_t> agentSleeps;               ///< in futex wait for simulatorSequence
    uint32_t command;
    uint32_t actionCount;
    uint64_t agentBlobBytes;
    uint32_t waiting;    ///< Place of the simulator: Waiting
    int32_t core;        ///< and its core
    CopyFiles copyFiles; ///< of Branch, as the next
    CopyTerms copyTerms;
    // Signs of life, counted by the simulator while it simulates.
    alignas(64) std::atomic<uint64_t> heartbeat;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// --- Of the region
inline constexpr uint64_t CHANNEL_MAGIC = 0x6e73335f72646d61; // "ns3_rdma"
inline constexpr uint32_t CHANNEL_VERSION = 4;

constexpr size_t
RoundUp(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

inline constexpr size_t CONTROL_OFFSET = RoundUp(sizeof(ChannelHeader), 64);
inline constexpr size_t ROWS_OFFSET = RoundUp(CONTROL_OFFSET + sizeof(ChannelControl), 64);

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

/// Hash (FNV-1a) of everything both ends must agree on: structures, offsets and the field table.
uint64_t ChannelLayoutHash();

/// The error of either end if the peer has another hash.
inline constexpr const char* DIFFERENT_BUILDS =
    "the simulator and the Python module ns3_env._native are of different builds: "
    "install the package again";

} // namespace ns3::env
