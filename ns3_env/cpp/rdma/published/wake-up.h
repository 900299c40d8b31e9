// SPDX-License-Identifier: GPL-2.0-or-later
// The one timer of an idle network card in the published simulator, which is sometimes late.
#ifndef NS3_ENV_RDMA_PUBLISHED_WAKE_UP_H
#define NS3_ENV_RDMA_PUBLISHED_WAKE_UP_H

#include "ns3/event-id.h"
#include "ns3_env/cpp/engine/reusable-event.h"

#include <algorithm>
#include <functional>

namespace ns3::env::rdma::published
{

/**
 * The one timer of a network card. It is armed when the card finds nothing to
 * send, for the earliest pacing time among all flows with bytes left, flows with a closed window included.
 * Where that time has passed already, nothing is armed, and a paced flow beside such a flow waits for the
 * next ACK. A pending timer stays where it is, except that a repaced flow (HPCC) moves it forward.
 */
class WakeUp
{
  public:
    explicit WakeUp(std::function<void()> look)
        : m_look(std::move(look))
    {
    }

    /// Nothing can be sent now; `earliest` is the least pacing time of the flows with bytes left, or NEVER.
    void OnIdle(Picos earliest, Picos now)
    {
        if (earliest > now && earliest < NEVER && !m_event.IsPending())
        {
            Arm(earliest, now);
        }
    }

    /// A flow's waiting packet was moved to `when`.
    void OnRepaced(Picos when, Picos now)
    {
        if (m_event.IsPending() && when < m_when)
        {
            m_event.Cancel();
            Arm(std::max(when, now), now);
        }
    }

  private:
    void Arm(Picos when, Picos now)
    {
        m_when = when;
        m_event = Simulator::Schedule(Time(when - now), [this] { m_look(); });
    }

    std::function<void()> m_look;
    EventId m_event;
    Picos m_when{0};
};

} // namespace ns3::env::rdma::published

#endif // NS3_ENV_RDMA_PUBLISHED_WAKE_UP_H
