// SPDX-License-Identifier: GPL-2.0-or-later
// Simulator implementation for ns-3 with a short way for re-armed events.
#include "event-loop.h"

#include "heartbeat.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <bit>

namespace ns3::env
{

NS_OBJECT_ENSURE_REGISTERED(EventLoop);

namespace
{

constexpr uint64_t EVENTS_PER_BEAT = 16;
constexpr uint64_t LINKS_PER_EVENT = 8;
constexpr uint64_t LEAST_PER_FRAME = 64;
constexpr uint64_t MOST_PER_FRAME = 1024;
constexpr size_t LEAST_CLEARING = 64; ///< fewer are not worth the search

} // namespace

EventLoop* EventLoop::s_current = nullptr;

TypeId
EventLoop::GetTypeId()
{
    static TypeId tid = TypeId("rdma::EventLoop")
                            .SetParent<SimulatorImpl>()
                            .SetGroupName("Rdma")
                            .AddConstructor<EventLoop>();
    return tid;
}

EventLoop::EventLoop()
    : m_scheduled(EventId::UID::VALID)
{
    s_current = this;
}

EventLoop::~EventLoop()
{
    m_events.ForEach(
        [](const EventEntry& entry)
        {
            if (!IsRearmed(entry))
            {
                EventOf(entry)->Unref();
            }
        });
    if (s_current == this)
    {
        s_current = nullptr;
    }
}

bool
EventLoop::IsRearmed(const EventEntry& entry)
{
    return (entry.handle & REARMED) != 0;
}

EventImpl*
EventLoop::EventOf(const EventEntry& entry)
{
    return reinterpret_cast<EventImpl*>(entry.handle & ~REARMED);
}

void
EventLoop::CountCancelled()
{
    if (++m_cancelled < LEAST_CLEARING || m_cancelled < m_events.HeapSize() / 2)
    {
        return;
    }
    m_cancelled = 0;
    m_events.ClearHeap(
        [](const EventEntry& entry)
        {
            const bool cancelled = !IsRearmed(entry) && EventOf(entry)->IsCancelled();
            if (cancelled)
            {
                EventOf(entry)->Unref();
            }
            return cancelled;
        });
}

void
EventLoop::FitGrain(uint32_t frameBytes, double fastestBps, size_t links)
{
    Simulator::Now(); // there is a loop from here on, and no event in it
    if (s_current != nullptr && s_current->m_events.IsEmpty() && fastestBps > 0)
    {
        const uint64_t events =
            std::clamp(std::bit_ceil(links / LINKS_PER_EVENT), LEAST_PER_FRAME, MOST_PER_FRAME);
        s_current->m_events.SetGrain(IdealTime(frameBytes, fastestBps, Rounding::Exact) /
                                         static_cast<Picos>(events),
                                     EventQueue::LEAST_SLOTS / LEAST_PER_FRAME * events);
    }
}

// --- scheduling ----------------------------------------------------------------------------------

uint32_t
EventLoop::Add(Picos time, uint32_t context, uintptr_t handle)
{
    const uint64_t number = m_scheduled++;
    m_events.Push({time, (number << CONTEXT_BITS) | (context & CONTEXT_MASK), handle});
    return static_cast<uint32_t>(number);
}

EventId
EventLoop::Schedule(const Time& delay, EventImpl* event)
{
    const Picos time = m_now + delay.GetTimeStep();
    const uint32_t context = GetContext();
    const uint32_t uid = Add(time, context, reinterpret_cast<uintptr_t>(event));
    return EventId(Ptr<EventImpl>(event), static_cast<uint64_t>(time), context, uid);
}

void
EventLoop::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    Add(m_now + delay.GetTimeStep(), context, reinterpret_cast<uintptr_t>(event));
}

EventId
EventLoop::ScheduleNow(EventImpl* event)
{
    return Schedule(Time(0), event);
}

EventId
EventLoop::ScheduleDestroy(EventImpl* event)
{
    m_atDestroy.emplace_back(Ptr<EventImpl>(event, false),
                             static_cast<uint64_t>(m_now),
                             Simulator::NO_CONTEXT,
                             EventId::UID::DESTROY);
    return m_atDestroy.back();
}

bool
EventLoop::IsExpired(const EventId& id) const
{
    EventImpl* event = id.PeekEventImpl();
    if (event == nullptr || event->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        return std::find(m_atDestroy.begin(), m_atDestroy.end(), id) == m_atDestroy.end();
    }
    const auto time = static_cast<Picos>(id.GetTs());
    // Numbers of events at one time differ by less than half of an EventId's range.
    const auto later = static_cast<int32_t>(id.GetUid() - static_cast<uint32_t>(Here().number));
    return time < m_now || (time == m_now && later <= 0);
}

void
EventLoop::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
        CountCancelled();
    }
}

void
EventLoop::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        std::erase(m_atDestroy, id);
        return;
    }
    Cancel(id); // it leaves the heap when its time comes
}

// --- running -------------------------------------------------------------------------------------

void
EventLoop::Run()
{
    m_stop = false;
    Picos beaten = m_now;
    while (!m_stop && !m_events.IsEmpty())
    {
        const EventEntry entry = m_events.Pop();
        m_now = entry.time;
        m_order = entry.order;
        // Events that follow one another without end at one instant are no progress.
        if (++m_count % EVENTS_PER_BEAT == 0 && m_now != beaten)
        {
            beaten = m_now;
            Heartbeat::Beat();
        }
        if (IsRearmed(entry))
        {
            static_cast<RearmedEvent*>(EventOf(entry))->Fire();
            continue;
        }
        // The reference is the queue's; it ends here, though the event throws (a flow that is refused at its start).
        const Ptr<EventImpl> event(EventOf(entry), false);
        event->Invoke();
    }
}

bool
EventLoop::IsFinished() const
{
    return m_events.IsEmpty();
}

void
EventLoop::Stop()
{
    m_stop = true;
}

EventId
EventLoop::Stop(const Time& delay)
{
    return Simulator::Schedule(delay, [this] { Stop(); });
}

void
EventLoop::Destroy()
{
    while (!m_atDestroy.empty())
    {
        const EventId id = m_atDestroy.front();
        m_atDestroy.erase(m_atDestroy.begin());
        id.PeekEventImpl()->Invoke(); // does nothing where it was cancelled
    }
}

Time
EventLoop::Now() const
{
    return TimeStep(static_cast<uint64_t>(m_now));
}

Time
EventLoop::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0) : TimeStep(id.GetTs() - static_cast<uint64_t>(m_now));
}

Time
EventLoop::GetMaximumSimulationTime() const
{
    return TimeStep(0x7fffffffffffffffULL);
}

void
EventLoop::SetScheduler(ObjectFactory)
{
}

uint32_t
EventLoop::GetSystemId() const
{
    return 0;
}

uint32_t
EventLoop::GetContext() const
{
    const auto context = static_cast<uint32_t>(m_order) & CONTEXT_MASK;
    return m_count == 0 || context == CONTEXT_MASK ? Simulator::NO_CONTEXT : context;
}

uint64_t
EventLoop::GetEventCount() const
{
    return m_count;
}

} // namespace ns3::env
