// SPDX-License-Identifier: GPL-2.0-or-later
// How do the simulator and Python talk? One shared memory region, a turn each, futex wait and wake.
#ifndef RDMA_CHANNEL_H
#define RDMA_CHANNEL_H

#include "adaptive-spin.h"
#include "shared-region.h"

#include "ns3_env/rdma/model/telemetry.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/**
 * The protocol, in turns:
 *
 *   simulator                         agent (Python)
 *   Ready                         ->
 *                                 <-  Reset (the blob holds the scenario) or Close
 *   Decisions (rows)              ->
 *                                 <-  Step (an action per row that needs one), Reset or Close
 *   EpisodeEnd (blob: results)    ->
 *   Error (blob: what was wrong)  ->
 *
 * Neither side speaks twice in a row. Both live in one anonymous memory file (memfd) which the agent creates
 * and the simulator inherits, so nothing is left behind, whoever is killed.
 */
namespace ns3::rdma
{

/// What the simulator says.
enum class Message : uint32_t
{
    None = 0,
    Ready = 1,      ///< attached; wants a Reset
    Decisions = 2,  ///< rows are due
    EpisodeEnd = 3, ///< the blob holds the episode's results; wants a Reset
    Error = 4,      ///< the blob says what was wrong; wants a Reset
};

/// What the agent says.
enum class Command : uint32_t
{
    None = 0,
    Step = 1,  ///< actions are there, in the order of the rows that need one
    Reset = 2, ///< begin the episode of the scenario in the blob (also in mid-episode)
    Close = 3, ///< end the process
};

/// Bits of DecisionRow::flags.
enum RowFlag : uint32_t
{
    ROW_FIRST = 1,      ///< the flow's first decision: no reward
    ROW_TERMINATED = 2, ///< the flow is done: no action
    ROW_TRUNCATED = 4,  ///< the episode was cut: no action
};

/// One flow that is due.
struct DecisionRow
{
    uint32_t flow{0};  ///< index in the scenario's flow list
    int32_t slot{-1};  ///< the flow's slot of that list
    uint32_t flags{0}; ///< RowFlag
    uint32_t reserved{0};
    TelemetryRecord record{};

    bool NeedsAction() const { return (flags & (ROW_TERMINATED | ROW_TRUNCATED)) == 0; }
};

/// One flow's action.
struct ActionRow
{
    double windowBytes{0};
    double rateBps{0};
    double echo{0}; ///< comes back as the field "last_action"
};

inline constexpr uint32_t ACTION_WIDTH = 3;
static_assert(sizeof(ActionRow) == ACTION_WIDTH * sizeof(double));
static_assert(sizeof(DecisionRow) == 16 + FIELD_COUNT * sizeof(double));
static_assert(std::is_standard_layout_v<DecisionRow> && std::is_trivially_copyable_v<DecisionRow>);

/// A FieldSpec as it stands in the region.
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
    int32_t agentPid; ///< the process whose end is the simulator's end
    // Written by the simulator when it attaches.
    uint64_t simulatorLayoutHash;
    uint32_t fieldCount;
    uint32_t actionWidth;
    SchemaField fields[FIELD_COUNT];
};

/// The words that change hands; each side's own on a cache line of its own.
struct ChannelControl
{
    // The simulator's.
    alignas(64) std::atomic<uint32_t> simulatorSequence; ///< futex word: messages sent
    std::atomic<uint32_t> simulatorSleeps;               ///< in futex wait for agentSequence
    uint32_t message;
    uint32_t rowCount;
    int64_t timePs;
    uint64_t simulatorBlobBytes;
    // The agent's.
    alignas(64) std::atomic<uint32_t> agentSequence; ///< futex word: commands sent
    std::atomic<uint32_t> agentSleeps;               ///< in futex wait for simulatorSequence
    uint32_t command;
    uint32_t actionCount;
    uint64_t agentBlobBytes;
    // A sign of life, bumped by the simulator while it simulates.
    alignas(64) std::atomic<uint64_t> heartbeat;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// Of everything both ends must agree on: structures, offsets and the field table (FNV-1a).
uint64_t ChannelLayoutHash();

/// The simulator's end of the channel.
class SimulatorEnd
{
  public:
    /**
     * Maps the inherited region, checks it and writes the telemetry schema.
     * Publish(Message::Ready) is left to the program, once it is ready for a scenario.
     * \throws ChannelError when this is no region of ours, or one of another build.
     */
    explicit SimulatorEnd(int channelFd);

    /// Rows one message can hold; send more in several Decisions messages, each answered by its Step.
    uint32_t Capacity() const { return m_header->capacity; }
    /// The process that made the channel.
    int AgentPid() const { return m_header->agentPid; }

    /// The region's rows, to be filled in place before Publish(kind, timePs, count).
    std::span<DecisionRow> Rows() { return m_rows; }
    void Publish(Message kind, int64_t timePs, uint32_t rowCount);
    /// As above, the rows copied. \throws ChannelError for more rows than Capacity().
    void Publish(Message kind, int64_t timePs = 0, std::span<const DecisionRow> rows = {});

    /**
     * Sleeps until the agent has answered the last message.
     * After a Step there are exactly as many Actions() as published rows that need one.
     * \throws ChannelError for a command that breaks the protocol.
     */
    Command Wait();
    /// The actions of the last Step.
    std::span<const ActionRow> Actions() const { return m_actions; }

    /// What the agent wrote before its last command.
    std::string ReadBlob() const;
    /// To be called before the message that refers to it.
    void WriteBlob(std::string_view text);

    /// To be called at least every few ms of computing: the agent kills a simulator whose heart stands still.
    void Beat() noexcept
    {
        m_control->heartbeat.store(m_control->heartbeat.load(std::memory_order_relaxed) + 1,
                                   std::memory_order_relaxed);
    }

    /// The counter behind Beat(), for the innermost loop.
    std::atomic<uint64_t>& Heartbeat() { return m_control->heartbeat; }

  private:
    SharedRegion m_region;
    ChannelHeader* m_header;
    ChannelControl* m_control;
    std::span<DecisionRow> m_rows;
    ActionRow* m_actionRows;
    std::span<const ActionRow> m_actions;
    AdaptiveSpin m_spin;
    uint32_t m_seen{0};     ///< the last command's sequence number
    uint32_t m_expected{0}; ///< actions due for the last message
};

/// The agent's end of the channel: it owns the region.
class AgentEnd
{
  public:
    /// Makes the region for `capacity` rows. \throws ChannelError
    explicit AgentEnd(uint32_t capacity);
    ~AgentEnd();
    AgentEnd(const AgentEnd&) = delete;
    AgentEnd& operator=(const AgentEnd&) = delete;

    /// Memory files the simulator must inherit under the same numbers.
    int ChannelFd() const { return m_region.Fd(); }
    int BlobFd() const { return m_blobFd; }
    uint32_t Capacity() const { return m_header->capacity; }

    /**
     * Waits for the simulator's next message, at most `timeoutS` seconds (0: looks once).
     * Returns Message::None when there is none yet, or when a signal came.
     * \throws ChannelError for a simulator of another build.
     */
    Message Wait(double timeoutS);
    /// Index of an end with a message; -1 when none has one yet. Wait(0) of that end then takes it.
    static int WaitAny(const std::vector<AgentEnd*>& ends, double timeoutS);

    /// The message taken last.
    Message Kind() const { return m_kind; }
    int64_t TimePs() const { return m_control->timePs; }
    uint32_t RowCount() const { return m_rowCount; }
    std::span<DecisionRow> Rows() const { return m_rows; }
    std::span<ActionRow> Actions() const { return m_actions; }
    /// The schema of the simulator; empty before Ready.
    std::span<const SchemaField> Fields() const;

    /// Hands over; for Step, the first `actionCount` of Actions(). \throws ChannelError out of turn.
    void Send(Command command, uint32_t actionCount = 0);
    std::string ReadBlob() const;
    void WriteBlob(std::string_view text);
    uint64_t Heartbeat() const { return m_control->heartbeat.load(std::memory_order_relaxed); }

  private:
    bool HasMessage() const;

    SharedRegion m_region;
    int m_blobFd{-1};
    ChannelHeader* m_header;
    ChannelControl* m_control;
    std::span<DecisionRow> m_rows;
    std::span<ActionRow> m_actions;
    AdaptiveSpin m_spin;
    uint32_t m_seen{0};
    uint32_t m_rowCount{0};
    Message m_kind{Message::None};
    bool m_ourTurn{false};
};

} // namespace ns3::rdma

#endif // RDMA_CHANNEL_H
