// SPDX-License-Identifier: GPL-2.0-or-later
// ACKs delayed by a random time at the receiver, in order.
#pragma once

#include "ns3/random-variable-stream.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/network/network.h"
#include "ns3_env/cpp/tcp/network/segment.h"
#include "ns3_env/cpp/tcp/network/timer.h"

#include <cmath>
#include <cstdint>
#include <deque>

namespace ns3::env::tcp
{

/// Delayed ACKs of a receiver. No ACK overtakes another: an ACK that is due waits for those before it.
class LateAcks
{
  public:
    /// \param rtts draws the times, in base RTTs
    LateAcks(Network& network, Ptr<RandomVariableStream> rtts, Picos baseRtt, uint32_t node)
        : m_network(network),
          m_rtts(rtts),
          m_baseRtt(baseRtt),
          m_next(Timer::Of<&LateAcks::OnDue>(network.Timers(), this, node))
    {
    }
    ~LateAcks() { DropAll(); }

    LateAcks(LateAcks&&) = delete;

    /// Sends it later.
    void Hold(Segment* ack)
    {
        const Picos wait = std::llround(m_rtts->GetValue() * static_cast<double>(m_baseRtt));
        m_waiting.push_back({ack, NowPicos() + wait});
        if (!m_next.IsSet())
        {
            m_next.Set(wait);
        }
    }

    /// Drops all ACKs that wait.
    void DropAll()
    {
        m_next.Cancel();
        for (const Waiting& waiting : m_waiting)
        {
            m_network.Drop(waiting.ack);
        }
        m_waiting.clear();
    }

  private:
    struct Waiting
    {
        Segment* ack;
        Picos due;
    };

    void OnDue()
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

    Network& m_network;
    Ptr<RandomVariableStream> m_rtts;
    Picos m_baseRtt;
    std::deque<Waiting> m_waiting;
    Timer m_next; ///< timer of the first
};

} // namespace ns3::env::tcp
