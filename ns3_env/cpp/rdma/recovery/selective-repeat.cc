// SPDX-License-Identifier: GPL-2.0-or-later
// Selective repeat (IRN, Mittal 2018): what a receiver stores, and which packets a sender retransmits.
#include "selective-repeat.h"

#include <algorithm>

namespace ns3::env::rdma
{

bool
SelectiveSender::Look(uint64_t acked, uint64_t sent)
{
    // h is lost if more than `reorderPackets` lie between it and the last one received, which is End() - 1
    const uint64_t end = m_received.Count() > 0 ? m_received.End() : 0;
    const uint64_t overtaken = end > m_reorderPackets + 1 ? end - 1 - m_reorderPackets : 0;
    const uint64_t lostTo = std::max(overtaken, m_timedOutTo);
    const uint64_t first = m_received.FirstMissing(std::max(acked, m_repeatedTo));
    m_silent = first < lostTo ? first : NONE;
    m_lost = m_trimmed.empty() ? m_silent : std::min(m_silent, *m_trimmed.begin());
    const bool begins = HasLost() && !m_recovering;
    if (begins)
    {
        m_recovering = true;
        m_recoverTo = sent;
    }
    return begins;
}

void
SelectiveSender::Learn(Picos leftAt)
{
    if (leftAt >= m_timedOutAt)
    {
        m_timedOutTo = m_inFlightTo;
        m_timedOutAt = NEVER;
    }
}

void
SelectiveSender::OnAcked(uint64_t acked, uint64_t sent, Picos leftAt)
{
    Learn(leftAt);
    m_received.DropBelow(acked);
    if (!m_recovering)
    {
        return;
    }
    m_trimmed.erase(m_trimmed.begin(), m_trimmed.lower_bound(acked));
    if (acked >= m_recoverTo)
    {
        m_recovering = false;
        m_repeatedTo = 0;
        m_timedOutTo = 0;
        m_timedOutAt = NEVER;
    }
    Look(acked, sent);
}

bool
SelectiveSender::OnSelectivelyAcked(uint64_t number, uint64_t acked, uint64_t sent, Picos leftAt)
{
    Learn(leftAt);
    if (number > acked)
    {
        m_received.Set(number);
    }
    return Look(acked, sent);
}

bool
SelectiveSender::OnTrimmed(uint64_t number, uint64_t acked, uint64_t sent)
{
    if (number >= acked && m_received.FirstMissing(number) == number)
    {
        m_trimmed.insert(number);
    }
    return Look(acked, sent);
}

void
SelectiveSender::OnTimeout(uint64_t acked, uint64_t sent, Picos now)
{
    m_repeatedTo = 0;
    m_timedOutTo = acked + 1;
    m_inFlightTo = sent;
    m_timedOutAt = now;
    m_recovering = false;
    Look(acked, sent);
}

uint64_t
SelectiveSender::TakeLost(uint64_t sent)
{
    const uint64_t taken = m_lost;
    m_repeatedTo = taken == m_silent ? taken + 1 : m_repeatedTo;
    m_trimmed.erase(taken);
    m_recoverTo = sent;
    Look(taken, sent);
    return taken;
}

SelectiveReceiver::Arrival
SelectiveReceiver::OnData(uint64_t number, uint64_t& expected)
{
    if (number < expected)
    {
        return Arrival::Duplicate;
    }
    if (number > expected)
    {
        return m_here.Set(number) ? Arrival::OutOfOrder : Arrival::Duplicate;
    }
    m_here.DropBelow(number + 1);
    expected = m_here.FirstMissing(number + 1);
    m_here.DropBelow(expected);
    return Arrival::Expected;
}

} // namespace ns3::env::rdma
