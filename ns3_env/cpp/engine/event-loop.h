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
    /// bytes on a link of up to `fastestBps`, and a network has some dozens of events in that time.
    static void FitGrain(uint32_t frameBytes, double fastestBps);
    /// `event` comes due `delay` from now, in the context of node `context`; it must live until then.
    /// \returns the number of the scheduling
    uint64_t Arm(RearmedEvent& event, Picos delay, uint32_t context)
    {
        const uint64_t number = Reserve();
        ArmReserved(event, delay, context, number);
        return number;
    }
    /// The number of a scheduling that may follow, or not: it keeps its place among events of one time.
    uint64_t Reserve() { return m_scheduled++; }
    void ArmReserved(RearmedEvent& event, Picos delay, uint32_t context, uint64_t number)
    {
        m_events.Push({m_now + delay,
                       (number << CONTEXT_BITS) | (context & CONTEXT_MASK),
                       reinterpret_cast<uintptr_t>(static_cast<EventImpl*>(&event)) | REARMED});
    }
    /// The number of the event that runs.
    uint64_t RunningNumber() const { return m_order >> CONTEXT_BITS; }

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
