// SPDX-License-Identifier: GPL-2.0-or-later
// Westwood+ (ns-3's), whose estimate of the bandwidth ends with its flow.
#include "westwood-plus.h"

namespace ns3::env::tcp
{

NS_OBJECT_ENSURE_REGISTERED(WestwoodPlus);

TypeId
WestwoodPlus::GetTypeId()
{
    static TypeId tid = TypeId("tcp::westwoodplus")
                            .SetParent<TcpWestwoodPlus>()
                            .SetGroupName("Tcp")
                            .AddConstructor<WestwoodPlus>();
    return tid;
}

WestwoodPlus::WestwoodPlus(const WestwoodPlus& other)
    : TcpWestwoodPlus(other)
{
    m_bwEstimateEvent = EventId(); // the other one's
}

WestwoodPlus::~WestwoodPlus()
{
    m_bwEstimateEvent.Cancel();
}

Ptr<TcpCongestionOps>
WestwoodPlus::Fork()
{
    return CopyObject(Ptr<WestwoodPlus>(this));
}

} // namespace ns3::env::tcp
