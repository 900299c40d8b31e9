// SPDX-License-Identifier: GPL-2.0-or-later
// Events of a network, or of one part of it, in order of time.
#ifndef NS3_ENV_EVENTS_TIMELINE_H
#define NS3_ENV_EVENTS_TIMELINE_H

#include "event-queue.h"

#include "ns3/event-id.h"
#include "ns3/event-impl.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>

namespace ns3::env
{

/// A place in the order of events: a time, and a number that decides between events of one time.
struct Moment
{
    Picos time{0};
    uint64_t number{0};

    bool operator==(const Moment&) const = default;

    bool operator<(const Moment& other) const
    {
        return time < other.time || (time == other.time && number < other.number);
    }
};

/// An event that its owner keeps and re-arms repeatedly.
class RearmedEvent : public EventImpl
{
  public:
    /// Runs the event when it is due.
    virtual void Fire() = 0;
    /// Called some time before it is due: prefetches memory that Fire() reads.
    virtual void Prefetch() const {}

  private:
    void Notify() final { Fire(); }
};

/**
 * Runs events in order of time, and events of one time in the order in which they were scheduled. A re-armed event is
 * neither allocated, counted nor given an EventId. One thread at a time runs it.
 */
class Timeline
{
  public:
    Timeline() = default;
    ~Timeline();

    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    /// The timeline that this thread simulates; null if ns-3 has another simulator, or no simulator.
    static Timeline* Current() { return s_current; }
    static void SetCurrent(Timeline* timeline) { s_current = timeline; }

    Picos Now() const { return m_now; }
    /// Advances to `now`, before which no event is left.
    void AdvanceTo(Picos now) { m_now = now; }
    /// The same, for actions at node `context` before all its events of that time.
    void Enter(Picos now, uint32_t context)
    {
        m_now = now;
        m_order = context & CONTEXT_MASK;
    }
    /// Fits the queue to a network with frames of `frameBytes` on links of up to `fastestBps`: a hop lasts as long as
    /// a frame, and a network has some dozens of events in that time, or one for every few of its `links`.
    void FitGrain(uint32_t frameBytes, double fastestBps, size_t links);
    /// The same for a part that is simulated `lookahead` at a time.
    void FitPart(uint32_t frameBytes, double fastestBps, Picos lookahead);

    /// Arms `event` for `delay` from now, in the context of node `context`; it must live until then.
    /// \returns its place
    Moment Arm(RearmedEvent& event, Picos delay, uint32_t context)
    {
        const Moment place = Reserve(delay);
        ArmAt(event, place, context);
        return place;
    }
    /// Reserves the place of an event scheduled now for `time`. It may stay empty.
    Moment ReserveAt(Picos time) { return {time, m_scheduled++}; }
    /// The same for `delay` from now.
    Moment Reserve(Picos delay) { return ReserveAt(m_now + delay); }
    /// Arms `event` for a reserved place, or for one with a number below FIRST_NUMBER, that has not passed; it must live
    /// until then.
    [[gnu::always_inline]] void ArmAt(RearmedEvent& event, const Moment& place, uint32_t context)
    {
        m_events.Push(place.time,
                      (place.number << CONTEXT_BITS) | (context & CONTEXT_MASK),
                      reinterpret_cast<uintptr_t>(static_cast<EventImpl*>(&event)) | REARMED);
    }
    /// Lower numbers precede all events scheduled for the same time.
    static constexpr uint64_t FIRST_NUMBER = uint64_t{1} << 20;
    /// The place of the event that runs, or ran last.
    Moment Here() const { return {m_now, m_order >> CONTEXT_BITS}; }
    /// Reports whether an event at `place` has run, or runs.
    bool HasPassed(const Moment& place) const { return !(Here() < place); }

    /// Schedules an ns-3 event for `time`. \returns the number of the scheduling, as an EventId contains it
    uint32_t Add(Picos time, uint32_t context, EventImpl* event);
    /// Counts a cancelled event; all of them are dropped once they may be half of those far ahead (ended flows'
    /// timers).
    void CountCancelled();
    bool IsExpired(const EventId& id) const;

    bool IsEmpty() const { return m_events.IsEmpty(); }
    /// NEVER without one.
    Picos NextTime() const { return m_events.IsEmpty() ? NEVER : m_events.NextTime(); }
    /// Runs the first event; there is one.
    void RunNext() { Run(m_events.Pop()); }
    /// Runs events that are due before `end`.
    void RunUntil(Picos end)
    {
        EventEntry entry;
        while (m_events.PopBefore(end, entry))
        {
            Run(entry);
        }
    }
    /// Prefetches the events of the near future.
    void Prefetch() const
    {
        m_events.ForEachInWheel([](const EventEntry& entry)
                                { __builtin_prefetch(EventOf(entry)); });
        m_events.ForEachInWheel(
            [](const EventEntry& entry)
            {
                if (IsRearmed(entry))
                {
                    static_cast<const RearmedEvent*>(EventOf(entry))->Prefetch();
                }
            });
    }
    /// Node of the running event; Simulator::NO_CONTEXT without one.
    uint32_t Context() const;
    /// Events that have run, including cancelled ones that were due.
    uint64_t Count() const { return m_count; }
    /// Cancelled events among them; how many, before all are dropped, depends on the timeline's other events.
    uint64_t CancelledCount() const { return m_cancelledRun; }

  private:
    static constexpr uint32_t CONTEXT_BITS = 20;
    /// also encodes Simulator::NO_CONTEXT
    static constexpr uint32_t CONTEXT_MASK = (1U << CONTEXT_BITS) - 1;
    static constexpr uintptr_t REARMED = 1; ///< in an entry's handle

    static bool IsRearmed(const EventEntry& entry) { return (entry.handle & REARMED) != 0; }
    static EventImpl* EventOf(const EventEntry& entry)
    {
        return reinterpret_cast<EventImpl*>(entry.handle & ~REARMED);
    }
    [[gnu::always_inline]] void Run(const EventEntry& entry);

    static thread_local constinit inline Timeline* s_current = nullptr;

    Picos m_now{0};
    uint64_t m_scheduled{FIRST_NUMBER};
    EventQueue m_events;   ///< order: (number of the scheduling << CONTEXT_BITS) | context
    size_t m_cancelled{0}; ///< since cancelled events were last dropped
    uint64_t m_order{0};   ///< of the event that runs
    uint64_t m_count{0};
    uint64_t m_cancelledRun{0};
};

inline void
Timeline::Run(const EventEntry& entry)
{
    m_now = entry.time;
    m_order = entry.order;
    ++m_count;
    if (IsRearmed(entry))
    {
        static_cast<RearmedEvent*>(EventOf(entry))->Fire();
        return;
    }
    // The reference is the queue's; it ends here, though the event throws (a flow that is refused at its start).
    const Ptr<EventImpl> event(EventOf(entry), false);
    m_cancelledRun += event->IsCancelled() ? 1 : 0;
    event->Invoke();
}

} // namespace ns3::env

#endif // NS3_ENV_EVENTS_TIMELINE_H
