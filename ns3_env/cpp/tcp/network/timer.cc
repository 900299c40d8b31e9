// SPDX-License-Identifier: GPL-2.0-or-later
// Timer that is reset far more often than it runs out.
#include "timer.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

namespace ns3::env::tcp
{

namespace
{

Timeline&
CurrentTimeline()
{
    Simulator::Now(); // there is an implementation from here on
    NS_ABORT_MSG_IF(Timeline::Current() == nullptr, "TCP's network needs the project's event loop");
    return *Timeline::Current();
}

} // namespace

TimerPool::TimerPool()
    : m_timeline(CurrentTimeline())
{
}

TimerPool::~TimerPool() = default;

Timer::Entry*
TimerPool::Take(Timer& timer)
{
    if (m_free.empty())
    {
        m_entries.push_back(std::make_unique<Timer::Entry>());
        m_entries.back()->pool = this;
        m_free.push_back(m_entries.back().get());
    }
    Timer::Entry* entry = m_free.back();
    m_free.pop_back();
    entry->timer = &timer;
    return entry;
}

Timer::Timer(TimerPool& pool, void* owner, void (*call)(void*), uint32_t context)
    : m_owner(owner),
      m_call(call),
      m_entry(pool.Take(*this)),
      m_timeline(pool.GetTimeline()),
      m_context(context)
{
}

Timer::~Timer()
{
    m_entry->timer = nullptr;
    if (m_entry->queued == 0)
    {
        m_entry->pool->Give(*m_entry);
    }
}

void
Timer::Set(Picos delay)
{
    m_set = true;
    m_due = m_timeline.Reserve(delay);
    if (!m_armed || m_due < m_first)
    {
        Arm();
    }
}

void
Timer::Arm()
{
    m_armed = true;
    m_first = m_due;
    ++m_entry->queued;
    m_timeline.ArmAt(*m_entry, m_due, m_context);
}

void
Timer::Entry::Fire()
{
    --queued;
    if (timer != nullptr)
    {
        timer->OnDue(timer->m_timeline.Here());
    }
    else if (queued == 0)
    {
        pool->Give(*this);
    }
}

void
Timer::OnDue(const Moment& now)
{
    if (now == m_first)
    {
        m_armed = false;
    }
    if (!m_set)
    {
        return;
    }
    if (now == m_due)
    {
        m_set = false;
        m_call(m_owner);
    }
    else if (!m_armed)
    {
        Arm();
    }
}

} // namespace ns3::env::tcp
