// SPDX-License-Identifier: GPL-2.0-or-later
// Timer that is reset far more often than it runs out.
#pragma once

#include "ns3_env/cpp/events/event-loop.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::env::tcp
{

class TimerPool;

/// Calls its owner when it runs out. Its place among events is the one that ns3::Simulator::Schedule would give it at
/// the instant at which it is set; an event of an earlier setting that is due before only re-arms.
class Timer
{
  public:
    /// A timer that calls the method of `owner`; the pool outlives it.
    template <auto Method, class Owner>
    static Timer Of(TimerPool& pool, Owner* owner, uint32_t context)
    {
        const auto call = [](void* self) { (static_cast<Owner*>(self)->*Method)(); };
        return Timer(pool, owner, call, context);
    }
    ~Timer();

    Timer(Timer&&) = delete;

    /// Runs out `delay` from now, and at no other time that was set before.
    void Set(Picos delay);
    void Cancel() { m_set = false; }
    bool IsSet() const { return m_set; }

  private:
    friend class TimerPool;

    Timer(TimerPool& pool, void* owner, void (*call)(void*), uint32_t context);

    struct Entry final : RearmedEvent
    {
        void Fire() override;

        Timer* timer{nullptr};
        TimerPool* pool{nullptr};
        uint32_t queued{0}; ///< number of its entries in the loop's queue
    };

    void OnDue(const Moment& now);
    void Arm();

    void* m_owner;
    void (*m_call)(void*);
    Entry* m_entry;
    Timeline& m_timeline;
    uint32_t m_context;
    bool m_set{false};
    bool m_armed{false};
    Moment m_due;   ///< when it is due
    Moment m_first; ///< of its entry in the queue, if armed: not after `m_due`
};

/// Entries that deleted timers leave in the loop's queue.
class TimerPool
{
  public:
    TimerPool();
    ~TimerPool();

    TimerPool(TimerPool&&) = delete;

    Timeline& GetTimeline() const { return m_timeline; }

  private:
    friend class Timer;

    Timer::Entry* Take(Timer& timer);
    void Give(Timer::Entry& entry) { m_free.push_back(&entry); }

    Timeline& m_timeline;
    std::vector<std::unique_ptr<Timer::Entry>> m_entries;
    std::vector<Timer::Entry*> m_free;
};

} // namespace ns3::env::tcp
