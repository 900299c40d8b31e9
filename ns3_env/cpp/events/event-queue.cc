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
constexpr uint32_t LEAST_NODES = 64;
constexpr Picos FIRST_GRAIN = 256;
} // namespace

EventQueue::EventQueue()
{
    SetGrain(FIRST_GRAIN);
}

void
EventQueue::SetGrain(Picos grain, uint64_t slots)
{
    std::vector<EventEntry> waiting;
    ForEach([&](const EventEntry& entry) { waiting.push_back(entry); });
    m_nodes.clear();
    m_free = NONE;
    m_inWheel = 0;
    m_hints = {};
    m_heap.clear();
    LookAtHeap();
    m_slotMask = slots - 1;
    m_first.assign(slots, NONE);
    m_used.assign(slots / WORD_BITS, 0);
    const uint64_t time = m_now << m_grainBits;
    m_grainBits =
        static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(std::max<Picos>(grain, 1)))) - 1;
    m_now = time >> m_grainBits;
    for (const EventEntry& entry : waiting)
    {
        Push(entry.time, entry.order, entry.handle);
    }
}

void
EventQueue::AddNodes()
{
    const auto first = static_cast<uint32_t>(m_nodes.size());
    const auto size = std::max<uint32_t>(2 * first, LEAST_NODES);
    m_nodes.resize(size);
    for (uint32_t at = size; at-- > first;)
    {
        m_nodes[at].next = m_free;
        m_free = at;
    }
}

void
EventQueue::PushElsewhere(Picos time, uint64_t order, uintptr_t handle)
{
    const uint64_t turn = Turn(time);
    if (turn - m_now <= m_slotMask)
    {
        PushToSlot(SlotOf(turn), {time, order, handle});
    }
    else
    {
        PushToHeap(time, order, handle);
    }
}

void
EventQueue::PushToSlot(uint64_t slot, const EventEntry& entry)
{
    if (m_free == NONE)
    {
        AddNodes();
    }
    PutAt(*LinkFor(slot, entry, m_free), slot, entry);
}

uint32_t*
EventQueue::LinkFor(uint64_t slot, const EventEntry& entry, uint32_t at)
{
    uint32_t* link = &m_first[slot];
    for (uint32_t steps = 0; *link != NONE && m_nodes[*link].entry < entry; ++steps)
    {
        link = &m_nodes[*link].next;
        if (steps == FAR)
        {
            Hint& hint = m_hints[slot % m_hints.size()];
            Node& node = m_nodes[hint.node];
            const bool isSame = !(node.entry < hint.entry) && !(hint.entry < node.entry) &&
                                SlotOf(Turn(hint.entry.time)) == slot;
            // Removed entries come before the present first one.
            const bool isThere = isSame && !(node.entry < m_nodes[m_first[slot]].entry);
            link = isThere && node.entry < entry ? &node.next : link;
            hint = {entry, at};
        }
    }
    return link;
}

// --- the heap ------------------------------------------------------------------------------------

void
EventQueue::PushToHeap(Picos time, uint64_t order, uintptr_t handle)
{
    const EventEntry entry{time, order, handle};
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

void
EventQueue::MoveFromHeap()
{
    const EventEntry least = PopFromHeap();
    m_now = Turn(least.time);
    PushToSlot(SlotOf(m_now), least);
}

EventEntry
EventQueue::PopFromHeap()
{
    const EventEntry top = m_heap.front();
    const EventEntry last = m_heap.back();
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
    return top;
}

void
EventQueue::RestoreHeap()
{
    std::sort(m_heap.begin(), m_heap.end()); // an array in order is a heap
    LookAtHeap();
}

} // namespace ns3::env
