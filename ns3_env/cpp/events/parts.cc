// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a network, each with a timeline, simulated window by window on one or several threads.
#include "parts.h"

#include "ns3_env/cpp/engine/heartbeat.h"

#include <algorithm>
#include <barrier>
#include <exception>
#include <thread>
#include <utility>

namespace ns3::env
{

namespace
{
constexpr uint32_t PARTS_BEYOND_CACHE = 16; ///< with more, a part's state leaves the cache
} // namespace

/// The threads of one run: each simulates its share of the parts in a window, the calling thread the first.
class Parts::Crew
{
  public:
    Crew(Parts& parts, PartExchange& exchange)
        : m_parts(parts),
          m_exchange(exchange),
          m_barrier(parts.m_threads),
          m_failures(parts.m_threads)
    {
        for (uint32_t i = 1; i < parts.m_threads; ++i)
        {
            m_threads.emplace_back([this, i] { Work(i); });
        }
    }

    ~Crew()
    {
        if (m_parts.m_isAlone)
        {
            for (std::thread& thread : m_threads)
            {
                thread.detach();
            }
            return;
        }
        m_over = true;
        m_barrier.arrive_and_wait();
        for (std::thread& thread : m_threads)
        {
            thread.join();
        }
    }

    Crew(Crew&&) = delete;

    /// Simulates all parts up to `end`. Rethrows a part's exception.
    void PlayWindow(Picos end)
    {
        if (m_parts.m_isAlone)
        {
            for (uint32_t part = 0; part < m_parts.m_count; ++part)
            {
                m_parts.Play(part, m_exchange, end);
            }
            return;
        }
        m_end = end;
        m_barrier.arrive_and_wait();
        PlayShare(0);
        m_barrier.arrive_and_wait();
        for (const std::exception_ptr& failure : m_failures)
        {
            if (failure)
            {
                std::rethrow_exception(failure);
            }
        }
    }

  private:
    void Work(uint32_t index)
    {
        for (m_barrier.arrive_and_wait(); !m_over; m_barrier.arrive_and_wait())
        {
            PlayShare(index);
            m_barrier.arrive_and_wait();
        }
    }

    void PlayShare(uint32_t index)
    {
        const auto first = [&](uint64_t i)
        { return static_cast<uint32_t>(i * m_parts.m_count / m_parts.m_threads); };
        try
        {
            for (uint32_t part = first(index); part < first(index + 1); ++part)
            {
                m_parts.Play(part, m_exchange, m_end);
            }
        }
        catch (...)
        {
            m_failures[index] = std::current_exception();
        }
    }

    Parts& m_parts;
    PartExchange& m_exchange;
    std::barrier<> m_barrier;
    bool m_over{false};
    Picos m_end{0};
    std::vector<std::exception_ptr> m_failures; ///< by thread
    std::vector<std::thread> m_threads;
};

Parts::Parts(std::vector<uint32_t> partOf, uint32_t count, uint32_t threads, Picos lookahead)
    : m_partOf(std::move(partOf)),
      m_count(count),
      m_threads(std::clamp<uint32_t>(threads, 1, count)),
      m_lookahead(lookahead),
      m_timelines(std::make_unique<Timeline[]>(count)),
      m_told(count)
{
}

uint64_t
Parts::EventCount() const
{
    uint64_t count = 0;
    for (uint32_t part = 0; part < m_count; ++part)
    {
        count += m_timelines[part].Count() - m_timelines[part].CancelledCount();
    }
    return count;
}

bool
Parts::IsEmpty() const
{
    return NextTime() == NEVER;
}

Picos
Parts::NextTime() const
{
    Picos next = NEVER;
    for (uint32_t part = 0; part < m_count; ++part)
    {
        next = std::min(next, m_timelines[part].NextTime());
    }
    return next;
}

void
Parts::Report(Picos time, uint64_t key, std::function<void()> told)
{
    m_told[static_cast<size_t>(Timeline::Current() - m_timelines.get())].push_back(
        {time, key, std::move(told)});
}

void
Parts::TellAll()
{
    std::vector<Told> all;
    for (std::vector<Told>& some : m_told)
    {
        std::move(some.begin(), some.end(), std::back_inserter(all));
        some.clear();
    }
    std::stable_sort(all.begin(),
                     all.end(),
                     [](const Told& a, const Told& b)
                     { return std::pair(a.time, a.key) < std::pair(b.time, b.key); });
    for (const Told& told : all)
    {
        told.call();
    }
}

void
Parts::Settle(PartExchange& exchange)
{
    for (uint32_t part = 0; part < m_count; ++part)
    {
        Timeline::SetCurrent(&m_timelines[part]);
        exchange.Enter(part);
    }
}

void
Parts::Play(uint32_t part, PartExchange& exchange, Picos end)
{
    Timeline::SetCurrent(&m_timelines[part]);
    if (m_count >= PARTS_BEYOND_CACHE)
    {
        m_timelines[part].Prefetch();
    }
    exchange.Enter(part);
    m_timelines[part].RunUntil(end);
}

void
Parts::Run(Timeline& whole, PartExchange& exchange, const bool& stopped)
{
    Crew crew(*this, exchange);
    Picos underWay = NEVER;
    Picos beaten = whole.Now();
    while (!stopped)
    {
        // Events that follow one another without end at one instant are no progress.
        if (whole.Now() != beaten)
        {
            beaten = whole.Now();
            Heartbeat::Beat();
        }
        const Picos next = std::min(underWay, NextTime());
        const Picos common = whole.NextTime();
        if (common <= next)
        {
            if (common == NEVER)
            {
                return;
            }
            whole.RunNext();
            continue;
        }
        const Picos end = std::min(next + m_lookahead, common);
        m_isPlaying = true;
        crew.PlayWindow(end);
        m_isPlaying = false;
        Timeline::SetCurrent(&whole);
        whole.AdvanceTo(end);
        underWay = exchange.Turn();
        TellAll();
    }
}

} // namespace ns3::env
