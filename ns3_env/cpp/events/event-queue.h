// SPDX-License-Identifier: GPL-2.0-or-later
// Event queue: a wheel of short lists for the near future, a heap for later events.
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// Time of an event, and a number that decides between events of one time.
struct EventKey
{
    Picos time; ///< not negative
    uint64_t order;

    bool operator<(const EventKey& other) const { return Joined() < other.Joined(); }

  private:
    // one comparison of 128 bits has no branch to mispredict
    __extension__ using Wide = unsigned __int128;
    Wide Joined() const { return (static_cast<Wide>(time) << 64) | order; }
};

/// An event that its owner keeps and re-arms repeatedly. It is the queue's own node: queueing allocates and copies nothing.
class RearmedEvent
{
  public:
    RearmedEvent() = default;
    virtual ~RearmedEvent() = default;

    RearmedEvent(RearmedEvent&&) = delete;

    /// Runs the event when it is due.
    virtual void Fire() = 0;
    /// Called some time before it is due: prefetches memory that Fire() reads.
    virtual void Prefetch() const {}
    /// Gives up what it would call if it is cancelled. \returns whether it is: its queue forgets it
    virtual bool GiveUp() { return false; }

    /// Key under which it is queued, or was last.
    const EventKey& Key() const { return m_key; }
    /// Reports whether a queue contains it.
    bool IsQueued() const { return m_next != this; }

  protected:
    /// \param order of its key before it is queued
    explicit RearmedEvent(uint64_t order)
        : m_key{0, order}
    {
    }

  private:
    friend class EventQueue;

    EventKey m_key{0, 0};
    RearmedEvent* m_next{this}; ///< behind it in the slot's list
};

/// Gives events back in order. Time never goes back: no event is queued under a key before that of the last one taken. The
/// wheel's slots are a grain wide, so fine that most contain one event; a word of bits tells which of 64 slots do. Events
/// beyond the wheel's end go into a four-ary heap and stay there. The order does not depend on the grain, only the speed
/// does.
class EventQueue
{
  public:
    EventQueue();

    static constexpr uint64_t SLOTS = 8192;

    /// Sets the width of a slot to the power of two at or below `grain`, and their number, a power of two.
    void SetGrain(Picos grain, uint64_t slots = SLOTS);

    /// Adds an event that is not queued.
    [[gnu::always_inline]] void Push(RearmedEvent& event, EventKey key)
    {
        if (!PushFirst(event, key)) [[unlikely]]
        {
            PushElsewhere(event, key);
        }
    }
    /// Adds an event that is not queued if it is the first of its slot, as most events are; false if it is not. Calls
    /// nothing, so that callers save no registers for it.
    [[gnu::always_inline]] bool PushFirst(RearmedEvent& event, EventKey key)
    {
        if (key.time >= m_end) [[unlikely]]
        {
            return false;
        }
        const uint64_t slot = SlotOf(key.time);
        RearmedEvent*& first = m_first[slot];
        if (first != nullptr && !(key < first->m_key)) [[unlikely]]
        {
            return false;
        }
        PutAt(first, slot, event, key);
        return true;
    }
    /// Adds an event that PushFirst() has not added.
    [[gnu::noinline]] void PushElsewhere(RearmedEvent& event, EventKey key);
    /// Removes the earliest event and returns it if it is before `end`; null if there is none.
    [[gnu::always_inline]] RearmedEvent* PopBefore(Picos end)
    {
        if (*m_word != 0) [[likely]]
        {
            const Picos time = FirstOfWord()->m_key.time;
            if (time < m_heapTime) [[likely]]
            {
                return time < end ? PopFromWord() : nullptr;
            }
        }
        return PopElsewhereBefore(end);
    }
    /// Time of the earliest event; NEVER without one.
    Picos NextTime() const { return std::min(m_heapTime, NextTimeOfWheel(NEVER)); }

    /// Events in the heap: those that ClearHeap checks.
    size_t HeapSize() const { return m_heap.size(); }
    /// Removes the heap's events that give up.
    void ClearHeap();
    /// Prefetches the events of the near future, and what they will need.
    void Prefetch() const;
    /// Calls `visit` for every event, in no order.
    template <class Visitor>
    void ForEach(Visitor visit) const;

  private:
    static constexpr uint64_t WORD_BITS = 64;
    static constexpr uint32_t FAR = 8; ///< places from the head of a slot's list

    /// An event in the heap, and a copy of its key.
    struct Entry
    {
        EventKey key;
        RearmedEvent* event;

        bool operator<(const Entry& other) const { return key < other.key; }
    };

    uint64_t Turn(Picos time) const { return static_cast<uint64_t>(time) >> m_grainBits; }
    uint64_t SlotOf(Picos time) const { return Turn(time) & m_slotMask; }
    void PushToSlot(RearmedEvent& event, EventKey key);
    /// Inserts the event at a link of the slot's list.
    void PutAt(RearmedEvent*& link, uint64_t slot, RearmedEvent& event, EventKey key)
    {
        event.m_key.time = key.time;
        event.m_key.order = key.order;
        event.m_next = link;
        link = &event;
        m_used[slot / WORD_BITS] |= uint64_t{1} << (slot % WORD_BITS);
        if (key.time > m_latest)
        {
            m_latest = key.time;
        }
    }
    /// The link of the slot's list at which to insert the event.
    RearmedEvent** LinkFor(uint64_t slot, RearmedEvent& event, const EventKey& key);
    /// The first event of the present word, which has one.
    RearmedEvent*& FirstOfWord() const { return m_slots[std::countr_zero(*m_word)]; }
    RearmedEvent* PopFromWord();
    /// PopBefore() if the present word has no event, or the heap's first is not after it.
    [[gnu::noinline]] RearmedEvent* PopElsewhereBefore(Picos end);
    /// Time of the wheel's earliest event; NEVER if there is none in a word that starts before `end`.
    Picos NextTimeOfWheel(Picos end) const;
    /// Makes the word of `time` the present one: the wheel ends where it starts again.
    void EnterWordOf(Picos time);
    Picos StartOfWord() const
    {
        return m_end - static_cast<Picos>((m_slotMask + 1) << m_grainBits);
    }
    /// Calls `visit` for the first event of each slot.
    template <class Visitor>
    void ForEachFirst(Visitor visit) const;
    void PushToHeap(RearmedEvent& event, const EventKey& key);
    RearmedEvent* PopFromHeap();
    void LookAtHeap() { m_heapTime = m_heap.empty() ? NEVER : m_heap.front().key.time; }

    uint32_t m_grainBits{0};
    uint64_t* m_word{nullptr}; ///< bits of the slots from that of the last removed event's word on
    RearmedEvent** m_slots{nullptr};    ///< the first slot of that word
    Picos m_end{0};                     ///< of the wheel: later events go into the heap
    Picos m_latest{0};                  ///< time up to which the wheel has had events
    Picos m_heapTime{NEVER};            ///< of the heap's earliest event
    uint64_t m_slotMask{SLOTS - 1};     ///< the number of slots, a power of two, less one
    std::vector<RearmedEvent*> m_first; ///< of each slot's list, in order
    std::vector<uint64_t> m_used;       ///< a bit for each slot that has an event
    std::vector<Entry> m_heap;
    std::array<Entry, 64> m_hints{}; ///< by slot: events inserted far from their list's head
};

inline RearmedEvent*
EventQueue::PopFromWord()
{
    RearmedEvent*& first = FirstOfWord();
    RearmedEvent* event = first;
    first = event->m_next;
    if (first == nullptr)
    {
        *m_word &= *m_word - 1;
    }
    event->m_next = event;
    return event;
}

template <class Visitor>
void
EventQueue::ForEachFirst(Visitor visit) const
{
    for (uint64_t word = 0; word < m_used.size(); ++word)
    {
        for (uint64_t bits = m_used[word]; bits != 0; bits &= bits - 1)
        {
            visit(m_first[word * WORD_BITS + static_cast<uint64_t>(std::countr_zero(bits))]);
        }
    }
}

template <class Visitor>
void
EventQueue::ForEach(Visitor visit) const
{
    ForEachFirst(
        [&](RearmedEvent* first)
        {
            for (RearmedEvent *event = first, *next = nullptr; event != nullptr; event = next)
            {
                next = event->m_next;
                visit(*event);
            }
        });
    for (const Entry& entry : m_heap)
    {
        visit(*entry.event);
    }
}

} // namespace ns3::env
