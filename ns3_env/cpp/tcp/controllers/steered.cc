// SPDX-License-Identifier: GPL-2.0-or-later
// TcpCongestionOps that leaves window and pace to a CongestionControl, to which it reports events.
#include "steered.h"

namespace ns3::env::tcp
{

NS_OBJECT_ENSURE_REGISTERED(Steered);

TypeId
Steered::GetTypeId()
{
    // No constructor: it is not created by name.
    static TypeId tid = TypeId("tcp::Steered").SetParent<TcpDctcp>().SetGroupName("Tcp");
    return tid;
}

void
Steered::CongControl(Ptr<TcpSocketState> /* tcb */,
                     const TcpRateOps::TcpRateConnection& /* connection */,
                     const TcpRateOps::TcpRateSample& /* sample */)
{
    if (m_events.acknowledged)
    {
        m_events.acknowledged();
    }
}

void
Steered::CongestionStateSet(Ptr<TcpSocketState> /* tcb */,
                            const TcpSocketState::TcpCongState_t newState)
{
    if (newState == TcpSocketState::CA_RECOVERY && m_events.recovers)
    {
        m_events.recovers();
    }
    if (newState == TcpSocketState::CA_LOSS && m_events.timedOut)
    {
        m_events.timedOut();
    }
}

} // namespace ns3::env::tcp
