// SPDX-License-Identifier: GPL-2.0-or-later
// Event queue: a wheel of short lists for the near future, a heap for what is later.
#include "event-queue.h"

#include <algorithm>
#include <bit>

namespace ns3::env
{

namespace
{
constexpr size_t CHILDREN = 4;
} // namespace

EventQueue::EventQueue()
{
    m_first.fill(NONE);
    m_used.fill(0);
}

void
EventQueue::SetGrain(Picos grain)
{
    const uint64_t time = m_now << m_grainBits;
    m_grainBits =
        static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(std::max<Picos>(grain, 1)))) - 1;
    m_now = time >> m_grainBits;
}

void
EventQueue::Push(const EventEntry& entry)
{
    const uint64_t turn = Turn(entry.time);
    if (turn - m_now < SLOTS)
    {
        PushToSlot(turn % SLOTS, entry);
    }
    else
    {
        PushToHeap(entry);
    }
}

EventEntry
EventQueue::Pop()
{
    EventEntry entry;
    if (m_inWheel == 0)
    {
        entry = PopFromHeap();
    }
    else
    {
        const uint64_t slot = FirstSlot();
        const bool near = m_heap.empty() || m_nodes[m_first[slot]].entry < m_heap.front();
        entry = near ? PopFromSlot(slot) : PopFromHeap();
    }
    m_now = Turn(entry.time);
    return entry;
}

// --- the wheel -----------------------------------------------------------------------------------

void
EventQueue::PushToSlot(uint64_t slot, const EventEntry& entry)
{
    uint32_t at = m_free;
    if (at == NONE)
    {
        at = static_cast<uint32_t>(m_nodes.size());
        m_nodes.emplace_back();
    }
    else
    {
        m_free = m_nodes[at].next;
    }
    uint32_t* link = &m_first[slot];
    while (*link != NONE && m_nodes[*link].entry < entry)
    {
        link = &m_nodes[*link].next;
    }
    m_nodes[at] = {entry, *link};
    *link = at;
    m_used[slot / WORD_BITS] |= uint64_t{1} << (slot % WORD_BITS);
    ++m_inWheel;
}

EventEntry
EventQueue::PopFromSlot(uint64_t slot)
{
    const uint32_t at = m_first[slot];
    Node& node = m_nodes[at];
    m_first[slot] = node.next;
    if (node.next == NONE)
    {
        m_used[slot / WORD_BITS] &= ~(uint64_t{1} << (slot % WORD_BITS));
    }
    node.next = m_free;
    m_free = at;
    --m_inWheel;
    return node.entry;
}

uint64_t
EventQueue::FirstSlot() const
{
    // Every entry's turn lies less than a round ahead, so slots follow each other in time from here on.
    const uint64_t start = m_now % SLOTS;
    uint64_t word = start / WORD_BITS;
    uint64_t bits = m_used[word] & (~uint64_t{0} << (start % WORD_BITS));
    while (bits == 0)
    {
        word = (word + 1) % WORDS;
        bits = m_used[word];
    }
    return word * WORD_BITS + static_cast<uint64_t>(std::countr_zero(bits));
}

// --- the heap ------------------------------------------------------------------------------------

void
EventQueue::PushToHeap(const EventEntry& entry)
{
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
    return top;
}

void
EventQueue::RestoreHeap()
{
    std::sort(m_heap.begin(), m_heap.end()); // an array in order is a heap
}

} // namespace ns3::env
