// SPDX-License-Identifier: GPL-2.0-or-later
// Data that a receiver cannot deliver yet, and the SACK blocks that it reports, stored as in ns-3.
#include "reassembly.h"

#include <algorithm>

namespace ns3::env::tcp
{

bool
Reassembly::Add(SequenceNumber32 first, uint32_t bytes, SequenceNumber32& next)
{
    SequenceNumber32 head = std::max(first, next);
    SequenceNumber32 tail = first + SequenceNumber32(bytes);
    if (m_waiting.empty())
    {
        if (head >= tail)
        {
            return false;
        }
        if (head == next) // by far the most
        {
            next = tail;
            return true;
        }
    }
    else
    {
        tail = std::min(tail, m_waiting.begin()->first + SequenceNumber32(m_mostBytes));
        head = std::min(head, tail);
    }

    auto old = m_waiting.upper_bound(head); // those before the one below it end before `head`
    old = old == m_waiting.begin() ? old : std::prev(old);
    while (old != m_waiting.end() && old->first <= tail)
    {
        const SequenceNumber32 oldFirst = old->first;
        const SequenceNumber32 oldEnd = oldFirst + SequenceNumber32(old->second);
        if (oldEnd > head)
        {
            if (oldFirst > head && oldEnd < tail)
            {
                old = m_waiting.erase(old);
                continue;
            }
            head = oldFirst <= head ? oldEnd : head;
            tail = oldEnd >= tail ? oldFirst : tail;
        }
        ++old;
    }
    if (head >= tail)
    {
        return false;
    }
    if (head > next)
    {
        m_waiting.emplace(head, static_cast<uint32_t>(tail - head));
        Report({head, tail});
        return true;
    }
    next = tail;
    while (!m_waiting.empty() && m_waiting.begin()->first <= next)
    {
        next = m_waiting.begin()->first + SequenceNumber32(m_waiting.begin()->second);
        m_waiting.erase(m_waiting.begin());
    }
    ForgetBlocksUpTo(next);
    return true;
}

/// Puts the block first, merged with adjacent ones.
void
Reassembly::Report(SackBlock block)
{
    m_blocks.insert(m_blocks.begin(), block);
    for (size_t i = 1; i < m_blocks.size();)
    {
        const SackBlock& other = m_blocks[i];
        if (other.second == m_blocks.front().first)
        {
            m_blocks.front().first = other.first;
        }
        else if (other.first == m_blocks.front().second)
        {
            m_blocks.front().second = other.second;
        }
        else
        {
            ++i;
            continue;
        }
        m_blocks.erase(m_blocks.begin() + static_cast<std::ptrdiff_t>(i));
        i = 1; // the wider block may touch another
    }
    if (m_blocks.size() > TcpOptions::MOST_BLOCKS)
    {
        m_blocks.pop_back();
    }
}

} // namespace ns3::env::tcp
