// SPDX-License-Identifier: GPL-2.0-or-later
// Simulator implementation for ns-3 with a short way for re-armed events.
#ifndef NS3_ENV_ENGINE_EVENT_LOOP_H
#define NS3_ENV_ENGINE_EVENT_LOOP_H

#include "event-queue.h"

#include "ns3/event-impl.h"
#include "ns3/simulator-impl.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
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

/// An event that its owner keeps and arms again and again.
class RearmedEvent : public EventImpl
{
  public:
    /// Comes due now.
    virtual void Fire() = 0;

  private:
    void Notify() final { Fire(); }
};

/**
 * Runs events in order of time, and events of one time in the order in which they were scheduled, as ns-3's
 * own implementations do. A re-armed event is neither allocated, counted nor given an EventId. For one
 * thread: what other threads schedule is not taken.
 */
class EventLoop : public SimulatorImpl
{
  public:
    static TypeId GetTypeId();

    EventLoop();
    ~EventLoop() override;

    /// The loop that ns3::Simulator uses; null while it uses none or another implementation.
    static EventLoop* Current() { return s_current; }

    Picos NowTicks() const { return m_now; }
    /// A hint to the loop that runs, where one does and no event waits: a hop takes the time of a frame of so many
    /// bytes on a link of up to `fastestBps`, and a network has some dozens of events in that time, or one for every few
    /// of its `links`.
    static void FitGrain(uint32_t frameBytes, double fastestBps, size_t links);
    /// `event` comes due `delay` from now, in the context of node `context`; it must live until then.
    /// \returns its place
    Moment Arm(RearmedEvent& event, Picos delay, uint32_t context)
    {
        const Moment place = Reserve(delay);
        ArmAt(event, place, context);
        return place;
    }
    /// The place that an event would have that is scheduled now and comes due `delay` from now. It may stay empty.
    Moment Reserve(Picos delay) { return {m_now + delay, m_scheduled++}; }
    /// `event` takes a place that was reserved and has not passed; it must live until then.
    void ArmAt(RearmedEvent& event, const Moment& place, uint32_t context)
    {
        m_events.Push({place.time,
                       (place.number << CONTEXT_BITS) | (context & CONTEXT_MASK),
                       reinterpret_cast<uintptr_t>(static_cast<EventImpl*>(&event)) | REARMED});
    }
    /// The place of the event that runs, or ran last.
    Moment Here() const { return {m_now, m_order >> CONTEXT_BITS}; }
    /// Whether an event at `place` has run, or runs.
    bool HasPassed(const Moment& place) const { return !(Here() < place); }

    /// @name ns3::SimulatorImpl
    /// @{
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    EventId Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    /// The heap is the loop's own: the factory is not used.
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;
    /// @}

  private:
    static constexpr uint32_t CONTEXT_BITS = 20;
    /// also stands for Simulator::NO_CONTEXT
    static constexpr uint32_t CONTEXT_MASK = (1U << CONTEXT_BITS) - 1;
    static constexpr uintptr_t REARMED = 1; ///< in an entry's handle

    /// \returns the number of the scheduling, as an EventId holds it
    uint32_t Add(Picos time, uint32_t context, uintptr_t handle);
    static bool IsRearmed(const EventEntry& entry);
    static EventImpl* EventOf(const EventEntry& entry);
    /// Drops cancelled events once they may be half of those far ahead: finished flows' timers.
    void CountCancelled();

    static EventLoop* s_current;

    Picos m_now{0};
    uint64_t m_scheduled{0};
    EventQueue m_events;   ///< order: (number of the scheduling << CONTEXT_BITS) | context
    size_t m_cancelled{0}; ///< since cancelled events were last dropped
    uint64_t m_order{0};   ///< of the event that runs
    uint64_t m_count{0};
    bool m_stop{false};
    std::vector<EventId> m_atDestroy;
};

} // namespace ns3::env

#endif // NS3_ENV_ENGINE_EVENT_LOOP_H
