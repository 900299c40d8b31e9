// SPDX-License-Identifier: GPL-2.0-or-later
// ACKs delayed by a random time at the receiver, in order.
#include "late-acks.h"

#include "ns3_env/cpp/events/now.h"

#include <cmath>

namespace ns3::env::tcp
{

LateAcks::LateAcks(Network& network, Ptr<RandomVariableStream> rtts, Picos baseRtt, uint32_t node)
    : m_network(network),
      m_rtts(rtts),
      m_baseRtt(baseRtt),
      m_next(
          network.Timers(),
          this,
          [](void* self) { static_cast<LateAcks*>(self)->OnDue(); },
          node)
{
}

void
LateAcks::Hold(Segment* ack)
{
    const Picos wait = std::llround(m_rtts->GetValue() * static_cast<double>(m_baseRtt));
    m_waiting.push_back({ack, NowPicos() + wait});
    if (!m_next.IsSet())
    {
        m_next.Set(wait);
    }
}

void
LateAcks::OnDue()
{
    while (!m_waiting.empty() && m_waiting.front().due <= NowPicos())
    {
        Segment* ack = m_waiting.front().ack;
        m_waiting.pop_front();
        m_network.Send(ack);
    }
    if (!m_waiting.empty())
    {
        m_next.Set(m_waiting.front().due - NowPicos());
    }
}

void
LateAcks::DropAll()
{
    m_next.Cancel();
    for (const Waiting& waiting : m_waiting)
    {
        m_network.Drop(waiting.ack);
    }
    m_waiting.clear();
}

} // namespace ns3::env::tcp
