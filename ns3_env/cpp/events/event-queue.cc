// SPDX-License-Identifier: GPL-2.0-or-later
// Event queue: a wheel of short lists for the near future, a heap for later events.
#include "event-queue.h"

#include <algorithm>
#include <bit>

namespace ns3::env
{

namespace
{
constexpr size_t CHILDREN = 4;
constexpr Picos FIRST_GRAIN = 256;
constexpr int MOST_BITS_OF_A_ROUND = 61; ///< so that the wheel's end is a time
} // namespace

EventQueue::EventQueue()
{
    SetGrain(FIRST_GRAIN);
}

void
EventQueue::SetGrain(Picos grain, uint64_t slots)
{
    std::vector<RearmedEvent*> waiting;
    ForEach([&](RearmedEvent& event) { waiting.push_back(&event); });
    m_hints = {};
    m_heap.clear();
    LookAtHeap();
    const Picos start = m_word != nullptr ? StartOfWord() : 0;
    m_slotMask = slots - 1;
    m_first.assign(slots, nullptr);
    m_used.assign(slots / WORD_BITS, 0);
    const auto bits = std::bit_width(static_cast<uint64_t>(std::max<Picos>(grain, 1))) - 1;
    m_grainBits =
        static_cast<uint32_t>(std::min(bits, MOST_BITS_OF_A_ROUND - std::bit_width(slots)));
    m_latest = 0;
    EnterWordOf(start);
    for (RearmedEvent* event : waiting)
    {
        Push(*event, event->Key());
    }
}

void
EventQueue::Prefetch() const
{
    ForEachFirst([](const RearmedEvent* event) { __builtin_prefetch(event); });
    ForEachFirst(
        [](const RearmedEvent* event)
        {
            for (; event != nullptr; event = event->m_next)
            {
                event->Prefetch();
            }
        });
}

void
EventQueue::EnterWordOf(Picos time)
{
    const uint64_t turn = Turn(time) / WORD_BITS * WORD_BITS;
    m_end = static_cast<Picos>((turn + m_slotMask + 1) << m_grainBits);
    m_slots = &m_first[turn & m_slotMask];
    m_word = &m_used[(turn & m_slotMask) / WORD_BITS];
}

void
EventQueue::PushElsewhere(RearmedEvent& event, EventKey key)
{
    if (key.time < m_end)
    {
        PushToSlot(event, key);
    }
    else
    {
        PushToHeap(event, key);
    }
}

void
EventQueue::PushToSlot(RearmedEvent& event, EventKey key)
{
    const uint64_t slot = SlotOf(key.time);
    PutAt(*LinkFor(slot, event, key), slot, event, key);
}

Picos
EventQueue::NextTimeOfWheel(Picos end) const
{
    const auto first = static_cast<uint64_t>(m_word - m_used.data());
    Picos start = StartOfWord();
    for (uint64_t i = 0; start < end && start <= m_latest; ++i)
    {
        // Every event is less than a round ahead, so words follow each other in time from the present one on.
        const uint64_t word = (first + i) & (m_slotMask / WORD_BITS);
        if (const uint64_t bits = m_used[word]; bits != 0)
        {
            return m_first[word * WORD_BITS + static_cast<uint64_t>(std::countr_zero(bits))]
                ->m_key.time;
        }
        start += static_cast<Picos>(WORD_BITS << m_grainBits);
    }
    return NEVER;
}

RearmedEvent*
EventQueue::PopElsewhereBefore(Picos end)
{
    const Picos next = NextTimeOfWheel(std::min(end, m_heapTime));
    if (std::min(next, m_heapTime) >= end)
    {
        return nullptr;
    }
    EnterWordOf(std::min(next, m_heapTime));
    if (m_heapTime <= next)
    {
        RearmedEvent* event = PopFromHeap();
        PushToSlot(*event, event->Key()); // earlier events of its slot, if any, all have its time
    }
    return PopFromWord();
}

RearmedEvent**
EventQueue::LinkFor(uint64_t slot, RearmedEvent& event, const EventKey& key)
{
    RearmedEvent** link = &m_first[slot];
    for (uint32_t steps = 0; *link != nullptr && (*link)->m_key < key; ++steps)
    {
        link = &(*link)->m_next;
        if (steps == FAR)
        {
            Entry& hint = m_hints[slot % m_hints.size()];
            // Keys of removed events are before the present first one's.
            const bool isThere = hint.event != nullptr && SlotOf(hint.key.time) == slot &&
                                 !(hint.key < m_first[slot]->m_key);
            link = isThere && hint.key < key ? &hint.event->m_next : link;
            hint = {key, &event};
        }
    }
    return link;
}

// --- the heap ------------------------------------------------------------------------------------

void
EventQueue::PushToHeap(RearmedEvent& event, const EventKey& key)
{
    const Entry entry{key, &event};
    event.m_key = key;
    event.m_next = nullptr;
    m_heap.push_back(entry);
    size_t hole = m_heap.size() - 1;
    while (hole > 0)
    {
        const size_t parent = (hole - 1) / CHILDREN;
        if (!(entry < m_heap[parent]))
        {
            break;
        }
        m_heap[hole] = m_heap[parent];
        hole = parent;
    }
    m_heap[hole] = entry;
    LookAtHeap();
}

RearmedEvent*
EventQueue::PopFromHeap()
{
    const Entry top = m_heap.front();
    const Entry last = m_heap.back();
    m_heap.pop_back();
    const size_t size = m_heap.size();
    size_t hole = 0;
    for (size_t first = 1; first < size; first = CHILDREN * hole + 1)
    {
        const auto begin = m_heap.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            m_heap.begin() + static_cast<std::ptrdiff_t>(std::min(first + CHILDREN, size));
        const auto least = std::min_element(begin, end);
        if (!(*least < last))
        {
            break;
        }
        m_heap[hole] = *least;
        hole = static_cast<size_t>(least - m_heap.begin());
    }
    if (size > 0)
    {
        m_heap[hole] = last;
    }
    LookAtHeap();
    return top.event;
}

void
EventQueue::ClearHeap()
{
    std::erase_if(m_heap,
                  [](const Entry& entry)
                  {
                      const bool gone = entry.event->GiveUp();
                      entry.event->m_next = gone ? entry.event : nullptr;
                      return gone;
                  });
    std::sort(m_heap.begin(), m_heap.end()); // an array in order is a heap
    LookAtHeap();
}

} // namespace ns3::env
