// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a network, each with a timeline, simulated window by window on one or several threads.
#pragma once

#include "timeline.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::env
{

/// Traffic from one part of a network to another.
class PartExchange
{
  public:
    virtual ~PartExchange() = default;

    /// Part `part` receives what other parts sent to it in the window before, on the thread that simulates it.
    virtual void Enter(uint32_t part) = 0;
    /// Ends a window of all parts. \returns the earliest arrival from one part at another, NEVER without any
    virtual Picos Turn() = 0;
};

/// The parts of a divided network. Nothing that happens in one part reaches another within the lookahead; so each part
/// simulates a window of that length by itself, and its state stays in the cache. Between windows, on the thread that
/// called Run(), events of the whole network run (its timeline), before the parts' events of the same time, and reports
/// of parts. Windows depend only on events and the lookahead: the results are the same for any division and any number
/// of threads.
class Parts
{
  public:
    /// \param partOf each node's part
    /// \param lookahead above 0
    Parts(std::vector<uint32_t> partOf, uint32_t count, uint32_t threads, Picos lookahead);

    Parts(Parts&&) = delete;

    uint32_t Count() const { return m_count; }
    uint32_t PartOf(uint32_t node) const { return m_partOf[node]; }
    bool HasNode(uint32_t node) const { return node < m_partOf.size(); }
    Timeline& Of(uint32_t part) { return m_timelines[part]; }
    /// Events that have run in all parts, without those that were cancelled.
    uint64_t EventCount() const;
    /// Reports whether no part has an event.
    bool IsEmpty() const;

    /// Reports whether parts run a window, and not events of the whole network.
    bool IsPlaying() const { return m_isPlaying; }
    /// Calls the function between windows, where it may touch any part, in order of `time` and then of `key`; reports
    /// of one part with equal ones in the order of their calls. Call from within a part.
    void Report(Picos time, uint64_t key, std::function<void()> told);

    /// Continues in a copy of the process, made between windows and without its threads: this thread simulates all
    /// parts.
    void GoOnAlone() { m_isAlone = true; }

    /// Lets each part receive what other parts sent to it. Call between windows.
    void Settle(PartExchange& exchange);

    /// Simulates until `stopped`, or until nothing is left. `exchange` and `whole` must live until then.
    void Run(Timeline& whole, PartExchange& exchange, const bool& stopped);

  private:
    class Crew;

    struct Told
    {
        Picos time;
        uint64_t key;
        std::function<void()> call;
    };

    void Play(uint32_t part, PartExchange& exchange, Picos end);
    Picos NextTime() const;
    void TellAll();

    std::vector<uint32_t> m_partOf;
    uint32_t m_count;
    uint32_t m_threads;
    Picos m_lookahead;
    std::unique_ptr<Timeline[]> m_timelines;
    std::vector<std::vector<Told>> m_told; ///< by part
    bool m_isPlaying{false};
    bool m_isAlone{false};
};

} // namespace ns3::env
