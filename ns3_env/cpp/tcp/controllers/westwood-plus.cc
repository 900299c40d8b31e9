// SPDX-License-Identifier: GPL-2.0-or-later
// Westwood+ (ns-3's), with an estimate of the bandwidth that ends with its flow.
#include "ns3/tcp-westwood-plus.h"

namespace ns3::env::tcp
{

/// Westwood+ that cancels its estimate at its end: ns-3 schedules it an RTT ahead, and runs it after the controller is
/// destroyed.
class WestwoodPlus final : public TcpWestwoodPlus
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("tcp::westwoodplus")
                                .SetParent<TcpWestwoodPlus>()
                                .SetGroupName("Tcp")
                                .AddConstructor<WestwoodPlus>();
        return tid;
    }

    WestwoodPlus() = default;

    WestwoodPlus(const WestwoodPlus& other)
        : TcpWestwoodPlus(other)
    {
        m_bwEstimateEvent = EventId(); // the other one's
    }

    ~WestwoodPlus() override { m_bwEstimateEvent.Cancel(); }

    Ptr<TcpCongestionOps> Fork() override { return CopyObject(Ptr<WestwoodPlus>(this)); }
};

NS_OBJECT_ENSURE_REGISTERED(WestwoodPlus);

} // namespace ns3::env::tcp
