// SPDX-License-Identifier: GPL-2.0-or-later
// Events of a network, or of one part of it, in order of time.
#include "timeline.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ns3::env
{

namespace
{

constexpr uint64_t LINKS_PER_EVENT = 8;
constexpr uint64_t LEAST_PER_FRAME = 64;
/// A network with no more links has half of these slots: a process may simulate hundreds of such networks, whose wheels
/// share its caches.
constexpr size_t FEW_LINKS = 16;
constexpr uint64_t FRAMES_AHEAD = 128;
constexpr uint64_t MOST_PER_FRAME = 1024;
constexpr uint64_t PER_FRAME_OF_PART = 128;
constexpr uint64_t MOST_SLOTS_OF_PART = 65536;
constexpr size_t LEAST_CLEARING = 64; ///< fewer are not worth the search

} // namespace

Timeline::~Timeline()
{
    for (ScheduledEvent& event : m_scheduledEvents.All())
    {
        event.Clear(); // the destruction of what it calls may cancel other events here
    }
    if (s_current == this)
    {
        s_current = nullptr;
    }
}

void
ScheduledEvent::Fire()
{
    // The reference ends here, though the event throws (a flow that is refused at its start).
    const Ptr<EventImpl> event = std::exchange(m_event, nullptr);
    m_timeline.m_scheduledEvents.Give(*this);
    m_timeline.m_cancelledRun += event->IsCancelled() ? 1 : 0;
    event->Invoke();
}

bool
ScheduledEvent::GiveUp()
{
    if (!m_event->IsCancelled())
    {
        return false;
    }
    m_event = nullptr;
    m_timeline.m_scheduledEvents.Give(*this);
    return true;
}

void
FurtherTurn::Fire()
{
    RearmedEvent* event = m_event;
    m_timeline.m_furtherTurns.Give(*this);
    event->Fire();
}

void
Timeline::ArmElsewhere(RearmedEvent& event, EventKey key)
{
    if (!event.IsQueued())
    {
        m_events.PushElsewhere(event, key);
        return;
    }
    FurtherTurn& further = m_furtherTurns.Take(*this);
    further.Set(&event);
    m_events.Push(further, key);
}

void
Timeline::FitGrain(uint32_t frameBytes, double fastestBps, size_t links)
{
    if (fastestBps > 0)
    {
        const uint64_t least = links <= FEW_LINKS ? LEAST_PER_FRAME / 2 : LEAST_PER_FRAME;
        const uint64_t events =
            std::clamp(std::bit_ceil(links / LINKS_PER_EVENT), least, MOST_PER_FRAME);
        m_events.SetGrain(IdealTime(frameBytes, fastestBps, Rounding::Exact) /
                              static_cast<Picos>(events),
                          FRAMES_AHEAD * events);
    }
}

void
Timeline::FitPart(uint32_t frameBytes, double fastestBps, Picos lookahead)
{
    if (fastestBps > 0)
    {
        const Picos grain =
            std::max<Picos>(IdealTime(frameBytes, fastestBps, Rounding::Exact) / PER_FRAME_OF_PART,
                            1);
        // Most events are due in this window or the next one.
        const auto turns = static_cast<uint64_t>(2 * lookahead / grain);
        m_events.SetGrain(grain,
                          std::clamp(std::bit_ceil(turns), PER_FRAME_OF_PART, MOST_SLOTS_OF_PART));
    }
}

uint32_t
Timeline::Add(Picos time, uint32_t context, EventImpl* event)
{
    const uint64_t number = m_scheduled++;
    ScheduledEvent& scheduled = m_scheduledEvents.Take(*this);
    scheduled.Set(event);
    m_events.Push(scheduled, KeyOf({time, number}, context));
    return static_cast<uint32_t>(number);
}

void
Timeline::CountCancelled()
{
    if (++m_cancelled < LEAST_CLEARING || m_cancelled < m_events.HeapSize() / 2)
    {
        return;
    }
    m_cancelled = 0;
    m_events.ClearHeap();
}

bool
Timeline::IsExpired(const EventId& id) const
{
    const auto time = static_cast<Picos>(id.GetTs());
    // Numbers of events at one time differ by less than half of an EventId's range.
    const auto later = static_cast<int32_t>(id.GetUid() - static_cast<uint32_t>(Here().number));
    return time < m_now || (time == m_now && later <= 0);
}

uint32_t
Timeline::ContextOf(const EventKey& key)
{
    const auto context = static_cast<uint32_t>(key.order) & CONTEXT_MASK;
    return context == CONTEXT_MASK ? Simulator::NO_CONTEXT : context;
}

uint32_t
Timeline::Context() const
{
    return m_count == 0 ? Simulator::NO_CONTEXT : ContextOf({m_now, m_order});
}

} // namespace ns3::env
