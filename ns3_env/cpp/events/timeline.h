// SPDX-License-Identifier: GPL-2.0-or-later
// Events of a network, or of one part of it, in order of time.
#pragma once

#include "event-queue.h"

#include "ns3/event-id.h"
#include "ns3/event-impl.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
#include <deque>
#include <vector>

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

class Timeline;

/// An event of ns-3's Simulator in a timeline's queue.
class ScheduledEvent final : public RearmedEvent
{
  public:
    explicit ScheduledEvent(Timeline& timeline)
        : m_timeline(timeline)
    {
    }

    void Set(EventImpl* event) { m_event = Ptr<EventImpl>(event, false); }
    void Clear() { m_event = nullptr; }
    void Fire() override;
    bool GiveUp() override;

  private:
    Timeline& m_timeline;
    Ptr<EventImpl> m_event;
};

/// A further turn of an event that is in the queue already.
class FurtherTurn final : public RearmedEvent
{
  public:
    explicit FurtherTurn(Timeline& timeline)
        : m_timeline(timeline)
    {
    }

    void Set(RearmedEvent* event) { m_event = event; }
    void Fire() override;
    void Prefetch() const override { m_event->Prefetch(); }

  private:
    Timeline& m_timeline;
    RearmedEvent* m_event{nullptr};
};

/// Events that a timeline makes and uses again.
template <class Event>
class EventPool
{
  public:
    Event& Take(Timeline& timeline)
    {
        if (m_free.empty())
        {
            m_free.push_back(&m_all.emplace_back(timeline));
        }
        Event& event = *m_free.back();
        m_free.pop_back();
        return event;
    }
    void Give(Event& event) { m_free.push_back(&event); }
    std::deque<Event>& All() { return m_all; }

  private:
    std::deque<Event> m_all;
    std::vector<Event*> m_free;
};

/// Runs events in order of time, and events of one time in the order in which they were scheduled. A re-armed event is
/// neither allocated, counted nor given an EventId. One thread at a time runs it.
class Timeline
{
  public:
    Timeline() = default;
    ~Timeline();

    Timeline(Timeline&&) = delete;

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
        if (!ArmsAtOnce(event, place, context)) [[unlikely]]
        {
            ArmElsewhere(event, KeyOf(place, context));
        }
    }
    /// The same if that needs no call, as it mostly does; false, and nothing is armed, if it does need one.
    [[gnu::always_inline]] bool
    ArmsAtOnce(RearmedEvent& event, const Moment& place, uint32_t context)
    {
        return !event.IsQueued() && m_events.PushFirst(event, KeyOf(place, context));
    }
    /// ArmsAtOnce() at a place that is reserved now for `time`, if it is armed.
    [[gnu::always_inline]] bool ArmsAtOnceFor(RearmedEvent& event, Picos time, uint32_t context)
    {
        const bool arms = ArmsAtOnce(event, {time, m_scheduled}, context);
        m_scheduled += arms ? 1 : 0;
        return arms;
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

    bool IsEmpty() const { return NextTime() == NEVER; }
    /// NEVER without one.
    Picos NextTime() const { return m_events.NextTime(); }
    /// Runs the first event. \returns false if there is none
    bool RunNext() { return RunNextBefore(NEVER); }
    /// Runs events that are due before `end`.
    void RunUntil(Picos end)
    {
        while (RunNextBefore(end))
        {
        }
    }
    /// Prefetches the events of the near future.
    void Prefetch() const { m_events.Prefetch(); }
    /// Node of an event; Simulator::NO_CONTEXT without one.
    static uint32_t ContextOf(const EventKey& key);
    /// The same of the running event.
    uint32_t Context() const;
    /// Events that have run, including cancelled ones that were due.
    uint64_t Count() const { return m_count; }
    /// Cancelled events among them; how many, before all are dropped, depends on the timeline's other events.
    uint64_t CancelledCount() const { return m_cancelledRun; }

  private:
    friend ScheduledEvent;
    friend FurtherTurn;

    static constexpr uint32_t CONTEXT_BITS = 20;
    /// also encodes Simulator::NO_CONTEXT
    static constexpr uint32_t CONTEXT_MASK = (1U << CONTEXT_BITS) - 1;

    [[gnu::always_inline]] bool RunNextBefore(Picos end);
    static EventKey KeyOf(const Moment& place, uint32_t context)
    {
        return {place.time, (place.number << CONTEXT_BITS) | (context & CONTEXT_MASK)};
    }
    [[gnu::noinline]] void ArmElsewhere(RearmedEvent& event, EventKey key);

    // In the static block of thread-local storage: without a call, also in a library that is loaded later.
    [[gnu::tls_model("initial-exec")]] static thread_local constinit inline Timeline* s_current =
        nullptr;

    Picos m_now{0};
    uint64_t m_scheduled{FIRST_NUMBER};
    EventQueue m_events;   ///< order: (number of the scheduling << CONTEXT_BITS) | context
    size_t m_cancelled{0}; ///< since cancelled events were last dropped
    uint64_t m_order{0};   ///< of the event that runs
    uint64_t m_count{0};
    uint64_t m_cancelledRun{0};
    EventPool<ScheduledEvent> m_scheduledEvents;
    EventPool<FurtherTurn> m_furtherTurns;
};

inline bool
Timeline::RunNextBefore(Picos end)
{
    RearmedEvent* event = m_events.PopBefore(end);
    if (event == nullptr)
    {
        return false;
    }
    m_now = event->Key().time;
    m_order = event->Key().order;
    ++m_count;
    event->Fire();
    return true;
}

} // namespace ns3::env
