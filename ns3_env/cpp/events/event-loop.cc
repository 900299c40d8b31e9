// SPDX-License-Identifier: GPL-2.0-or-later
// Simulator implementation for ns-3 with a fast path for re-armed events.
#include "event-loop.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"

#include <algorithm>
#include <utility>

namespace ns3::env
{

NS_OBJECT_ENSURE_REGISTERED(EventLoop);

namespace
{
constexpr uint64_t EVENTS_PER_BEAT = 16;
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
{
    s_current = this;
    Timeline::SetCurrent(&m_whole);
}

EventLoop::~EventLoop()
{
    if (s_current == this)
    {
        s_current = nullptr;
    }
}

void
EventLoop::FitGrain(uint32_t frameBytes, double fastestBps, size_t links)
{
    Simulator::Now(); // there is a loop from here on
    if (s_current != nullptr)
    {
        s_current->m_whole.FitGrain(frameBytes, fastestBps, links);
    }
}

void
EventLoop::Divide(std::unique_ptr<Parts> parts, PartExchange& exchange)
{
    Simulator::Now(); // there is a loop from here on
    s_current->m_parts = std::move(parts);
    s_current->m_exchange = &exchange;
}

void
EventLoop::Report(Picos time, uint64_t key, std::function<void()> told)
{
    if (IsDivided() && s_current->m_parts->IsPlaying())
    {
        s_current->m_parts->Report(time, key, std::move(told));
        return;
    }
    Timeline* own = Timeline::Current();
    if (s_current != nullptr)
    {
        Timeline::SetCurrent(&s_current->m_whole);
    }
    told();
    Timeline::SetCurrent(own);
}

void
EventLoop::GoOnAlone()
{
    if (IsDivided())
    {
        s_current->m_parts->GoOnAlone();
    }
}

void
EventLoop::Settle()
{
    if (IsDivided())
    {
        s_current->m_parts->Settle(*s_current->m_exchange);
        Timeline::SetCurrent(&s_current->m_whole);
    }
}

void
EventLoop::EnterNode(uint32_t node)
{
    if (IsDivided())
    {
        Timeline& own = s_current->TimelineOf(node);
        own.Enter(s_current->m_whole.Now(), node);
        Timeline::SetCurrent(&own);
    }
}

void
EventLoop::LeaveNode()
{
    if (IsDivided())
    {
        Timeline::SetCurrent(&s_current->m_whole);
    }
}

Timeline&
EventLoop::TimelineOf(uint32_t context)
{
    return m_parts && m_parts->HasNode(context) ? m_parts->Of(m_parts->PartOf(context)) : m_whole;
}

// --- scheduling ----------------------------------------------------------------------------------

EventId
EventLoop::Schedule(const Time& delay, EventImpl* event)
{
    Timeline& timeline = *Timeline::Current();
    const Picos time = timeline.Now() + delay.GetTimeStep();
    const uint32_t context = timeline.Context();
    const uint32_t uid = timeline.Add(time, context, event);
    return EventId(Ptr<EventImpl>(event), static_cast<uint64_t>(time), context, uid);
}

void
EventLoop::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    TimelineOf(context).Add(Timeline::Current()->Now() + delay.GetTimeStep(), context, event);
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
                             static_cast<uint64_t>(m_whole.Now()),
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
    return Timeline::Current()->IsExpired(id);
}

void
EventLoop::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
        Timeline::Current()->CountCancelled();
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
    Cancel(id); // it leaves the heap when it is due
}

// --- running -------------------------------------------------------------------------------------

void
EventLoop::Run()
{
    m_stop = false;
    if (m_parts)
    {
        m_parts->Run(m_whole, *m_exchange, m_stop);
        return;
    }
    Picos beaten = m_whole.Now();
    while (!m_stop && !m_whole.IsEmpty())
    {
        m_whole.RunNext();
        // Events that follow one another without end at one instant are no progress.
        if (m_whole.Count() % EVENTS_PER_BEAT == 0 && m_whole.Now() != beaten)
        {
            beaten = m_whole.Now();
            Heartbeat::Beat();
        }
    }
}

bool
EventLoop::IsFinished() const
{
    return m_whole.IsEmpty() && (!m_parts || m_parts->IsEmpty());
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
        id.PeekEventImpl()->Invoke(); // does nothing if it was cancelled
    }
}

Time
EventLoop::Now() const
{
    return TimeStep(static_cast<uint64_t>(Timeline::Current()->Now()));
}

Time
EventLoop::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0)
                         : TimeStep(id.GetTs() - static_cast<uint64_t>(Timeline::Current()->Now()));
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
    return Timeline::Current()->Context();
}

uint64_t
EventLoop::GetEventCount() const
{
    return m_whole.Count() + (m_parts ? m_parts->EventCount() : 0);
}

} // namespace ns3::env
