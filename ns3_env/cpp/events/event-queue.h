// SPDX-License-Identifier: GPL-2.0-or-later
// Event queue: a wheel of short lists for the near future, a heap for later events.
#ifndef NS3_ENV_EVENTS_EVENT_QUEUE_H
#define NS3_ENV_EVENTS_EVENT_QUEUE_H

#include "ns3_env/cpp/contract/units.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// One entry of an event in the queue.
struct EventEntry
{
    Picos time;       ///< not negative
    uint64_t order;   ///< decides between entries of one time
    uintptr_t handle; ///< the event, as its owner interprets it

    bool operator<(const EventEntry& other) const { return Key() < other.Key(); }

  private:
    // one comparison of 128 bits has no branch to mispredict
    __extension__ using Wide = unsigned __int128;
    Wide Key() const { return (static_cast<Wide>(time) << 64) | order; }
};

/**
 * Gives entries back in order. Time never goes back: no entry lies before the last one taken. The wheel's
 * slots are a grain wide, so fine that most hold one entry; entries beyond its end go into a four-ary heap and stay
 * there. The order does not depend on the grain, only the speed does.
 */
class EventQueue
{
  public:
    EventQueue();

    static constexpr uint64_t LEAST_SLOTS = 8192;

    /// Sets the width of a slot to the power of two at or below `grain`, and their number, a power of two not below
    /// LEAST_SLOTS.
    void SetGrain(Picos grain, uint64_t slots = LEAST_SLOTS);

    bool IsEmpty() const { return m_inWheel == 0 && m_heap.empty(); }
    /// Adds an entry. Inlined is what most entries need, to be the first of a slot: it calls nothing, so that callers
    /// save no registers for it.
    [[gnu::always_inline]] void Push(Picos time, uint64_t order, uintptr_t handle)
    {
        const EventEntry entry{time, order, handle};
        const uint64_t turn = Turn(time);
        if (turn - m_now <= m_slotMask && m_free != NONE) [[likely]]
        {
            const uint64_t slot = SlotOf(turn);
            const uint32_t first = m_first[slot];
            if (first == NONE || entry < m_nodes[first].entry) [[likely]]
            {
                PutAt(m_first[slot], slot, entry);
                return;
            }
        }
        PushElsewhere(time, order, handle);
    }
    /// Removes the earliest entry; call only if there is one.
    EventEntry Pop()
    {
        if (m_inWheel == 0) [[unlikely]]
        {
            MoveFromHeap();
        }
        uint64_t slot = FirstSlot();
        if (m_heapTime <= m_nodes[m_first[slot]].entry.time) [[unlikely]]
        {
            MoveFromHeap();
            slot = FirstSlot();
        }
        return PopFromSlot(slot);
    }

    /// Removes the earliest entry if it is before `end`; false if there is none.
    bool PopBefore(Picos end, EventEntry& entry)
    {
        if (m_inWheel > 0) [[likely]]
        {
            const uint64_t slot = FirstSlot();
            const Picos first = m_nodes[m_first[slot]].entry.time;
            if (first < m_heapTime) [[likely]]
            {
                if (first >= end)
                {
                    return false;
                }
                entry = PopFromSlot(slot);
                return true;
            }
        }
        if (m_heapTime >= end)
        {
            return false;
        }
        entry = Pop();
        return true;
    }
    /// Time of the earliest entry; NEVER without one.
    Picos NextTime() const
    {
        return m_inWheel == 0 ? m_heapTime
                              : std::min(m_heapTime, m_nodes[m_first[FirstSlot()]].entry.time);
    }

    /// Entries in the heap: those that ClearHeap checks.
    size_t HeapSize() const { return m_heap.size(); }
    /// Removes the heap's entries for which `goes` is true.
    template <class Predicate>
    void ClearHeap(Predicate goes);
    /// Shows the entries of the near future to `visit`, in no order.
    template <class Visitor>
    void ForEachInWheel(Visitor visit) const
    {
        for (uint64_t word = 0; word < m_used.size(); ++word)
        {
            for (uint64_t bits = m_used[word]; bits != 0; bits &= bits - 1)
            {
                const uint64_t slot =
                    word * WORD_BITS + static_cast<uint64_t>(std::countr_zero(bits));
                for (uint32_t at = m_first[slot]; at != NONE; at = m_nodes[at].next)
                {
                    visit(m_nodes[at].entry);
                }
            }
        }
    }
    /// Shows every entry to `visit`, in no order.
    template <class Visitor>
    void ForEach(Visitor visit) const;

  private:
    static constexpr uint64_t WORD_BITS = 64;
    static constexpr uint32_t NONE = 0xffffffff;
    static constexpr uint32_t FAR = 8; ///< places from the head of a slot's list

    struct Node
    {
        EventEntry entry;
        uint32_t next;
    };

    /// The node of an entry that was inserted far from its list's head; the node may have been reused.
    struct Hint
    {
        EventEntry entry{};
        uint32_t node{0};
    };

    uint64_t Turn(Picos time) const { return static_cast<uint64_t>(time) >> m_grainBits; }
    uint64_t SlotOf(uint64_t turn) const { return turn & m_slotMask; }
    /// Adds an entry that is not the first of a slot, or for which there is no node.
    [[gnu::noinline]] void PushElsewhere(Picos time, uint64_t order, uintptr_t handle);
    void PushToSlot(uint64_t slot, const EventEntry& entry);
    /// Inserts the entry as the next free node at a link of the slot's list.
    void PutAt(uint32_t& link, uint64_t slot, const EventEntry& entry)
    {
        const uint32_t at = m_free;
        Node& node = m_nodes[at];
        m_free = node.next;
        node = {entry, link};
        link = at;
        m_used[slot / WORD_BITS] |= uint64_t{1} << (slot % WORD_BITS);
        ++m_inWheel;
    }
    /// The link of the slot's list at which to insert `entry`, which is not the first, as the node `at`.
    uint32_t* LinkFor(uint64_t slot, const EventEntry& entry, uint32_t at);
    EventEntry PopFromSlot(uint64_t slot);
    /// The first slot with an entry, from that of the last removed entry on; call only if there is one.
    uint64_t FirstSlot() const;
    void AddNodes();
    void PushToHeap(Picos time, uint64_t order, uintptr_t handle);
    /// Moves the heap's earliest entry into the wheel, where earlier entries, if any, all have its time.
    [[gnu::noinline]] void MoveFromHeap();
    EventEntry PopFromHeap();
    void RestoreHeap();
    void LookAtHeap() { m_heapTime = m_heap.empty() ? NEVER : m_heap.front().time; }

    uint32_t m_grainBits{0};
    uint32_t m_free{NONE};
    uint64_t m_now{0}; ///< turn of the last entry taken
    size_t m_inWheel{0};
    Picos m_heapTime{NEVER};              ///< of the heap's earliest entry
    uint64_t m_slotMask{LEAST_SLOTS - 1}; ///< the number of slots, a power of two, less one
    std::vector<Node> m_nodes;
    std::vector<uint32_t> m_first; ///< of each slot's list, in order
    std::vector<uint64_t> m_used;  ///< a bit for each slot that has an entry
    std::vector<EventEntry> m_heap;
    std::array<Hint, 64> m_hints{}; ///< by slot: where to insert many simultaneous events
};

inline EventEntry
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
    const EventEntry entry = node.entry;
    m_now = Turn(entry.time);
    return entry;
}

inline uint64_t
EventQueue::FirstSlot() const
{
    // Every entry's turn lies less than a round ahead, so slots follow each other in time from here on.
    const uint64_t start = SlotOf(m_now);
    uint64_t word = start / WORD_BITS;
    uint64_t bits = m_used[word] & (~uint64_t{0} << (start % WORD_BITS));
    while (bits == 0)
    {
        word = (word + 1) & (m_slotMask / WORD_BITS);
        bits = m_used[word];
    }
    return word * WORD_BITS + static_cast<uint64_t>(std::countr_zero(bits));
}

template <class Predicate>
void
EventQueue::ClearHeap(Predicate goes)
{
    std::erase_if(m_heap, goes);
    RestoreHeap();
}

template <class Visitor>
void
EventQueue::ForEach(Visitor visit) const
{
    ForEachInWheel(visit);
    for (const EventEntry& entry : m_heap)
    {
        visit(entry);
    }
}

} // namespace ns3::env

#endif // NS3_ENV_EVENTS_EVENT_QUEUE_H
