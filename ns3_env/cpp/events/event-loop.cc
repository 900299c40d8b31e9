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

Simulation* EventLoop::s_current = nullptr;

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
    Begin();
}

EventLoop::~EventLoop()
{
    End();
}

void
EventLoop::Begin()
{
    if (s_current == nullptr)
    {
        s_current = new Simulation;
        Timeline::SetCurrent(&s_current->whole);
    }
}

void
EventLoop::End()
{
    if (s_current != nullptr)
    {
        s_current->RunAtDestroy();
        delete s_current; // events that it cancels are its own still
        s_current = nullptr;
    }
}

EventLoop::Left
EventLoop::Exchange(const Left& other)
{
    const Left present{s_current, Timeline::Current()};
    s_current = other.simulation;
    Timeline::SetCurrent(other.timeline);
    return present;
}

void
EventLoop::FitGrain(uint32_t frameBytes, double fastestBps, size_t links)
{
    Simulator::Now(); // there is a loop from here on
    if (s_current != nullptr)
    {
        s_current->whole.FitGrain(frameBytes, fastestBps, links);
    }
}

void
EventLoop::Divide(std::unique_ptr<Parts> parts, PartExchange& exchange)
{
    Simulator::Now(); // there is a loop from here on
    s_current->parts = std::move(parts);
    s_current->exchange = &exchange;
}

void
EventLoop::Report(Picos time, uint64_t key, std::function<void()> told)
{
    if (IsDivided() && s_current->parts->IsPlaying())
    {
        s_current->parts->Report(time, key, std::move(told));
        return;
    }
    Timeline* own = Timeline::Current();
    if (s_current != nullptr)
    {
        Timeline::SetCurrent(&s_current->whole);
    }
    told();
    Timeline::SetCurrent(own);
}

void
EventLoop::GoOnAlone()
{
    if (IsDivided())
    {
        s_current->parts->GoOnAlone();
    }
}

void
EventLoop::Settle()
{
    if (IsDivided())
    {
        s_current->parts->Settle(*s_current->exchange);
        Timeline::SetCurrent(&s_current->whole);
    }
}

void
EventLoop::EnterNode(uint32_t node)
{
    if (IsDivided())
    {
        Timeline& own = s_current->TimelineOf(node);
        own.Enter(s_current->whole.Now(), node);
        Timeline::SetCurrent(&own);
    }
}

void
EventLoop::LeaveNode()
{
    if (IsDivided())
    {
        Timeline::SetCurrent(&s_current->whole);
    }
}

Timeline&
Simulation::TimelineOf(uint32_t context)
{
    return parts && parts->HasNode(context) ? parts->Of(parts->PartOf(context)) : whole;
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
    s_current->TimelineOf(context).Add(Timeline::Current()->Now() + delay.GetTimeStep(),
                                       context,
                                       event);
}

EventId
EventLoop::ScheduleNow(EventImpl* event)
{
    return Schedule(Time(0), event);
}

EventId
EventLoop::ScheduleDestroy(EventImpl* event)
{
    s_current->atDestroy.emplace_back(Ptr<EventImpl>(event, false),
                                      static_cast<uint64_t>(s_current->whole.Now()),
                                      Simulator::NO_CONTEXT,
                                      EventId::UID::DESTROY);
    return s_current->atDestroy.back();
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
        return std::find(s_current->atDestroy.begin(), s_current->atDestroy.end(), id) ==
               s_current->atDestroy.end();
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
        std::erase(s_current->atDestroy, id);
        return;
    }
    Cancel(id); // it leaves the heap when it is due
}

// --- running -------------------------------------------------------------------------------------

void
EventLoop::Run()
{
    s_current->Run();
}

void
Simulation::Run()
{
    stop = false;
    if (parts)
    {
        parts->Run(whole, *exchange, stop);
        return;
    }
    Picos beaten = whole.Now();
    while (!stop && whole.RunNext())
    {
        // Events that follow one another without end at one instant are no progress.
        if (whole.Count() % EVENTS_PER_BEAT == 0 && whole.Now() != beaten)
        {
            beaten = whole.Now();
            Heartbeat::Beat();
        }
    }
}

bool
EventLoop::IsFinished() const
{
    return s_current->whole.IsEmpty() && (!s_current->parts || s_current->parts->IsEmpty());
}

void
EventLoop::Stop()
{
    s_current->stop = true;
}

EventId
EventLoop::Stop(const Time& delay)
{
    return Simulator::Schedule(delay, [this] { Stop(); });
}

void
EventLoop::Destroy()
{
    s_current->RunAtDestroy();
}

void
Simulation::RunAtDestroy()
{
    while (!atDestroy.empty())
    {
        const EventId id = atDestroy.front();
        atDestroy.erase(atDestroy.begin());
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
    return s_current->whole.Count() + (s_current->parts ? s_current->parts->EventCount() : 0);
}

} // namespace ns3::env
