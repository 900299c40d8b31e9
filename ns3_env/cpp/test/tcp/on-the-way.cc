// SPDX-License-Identifier: GPL-2.0-or-later
// Payload on the network at this moment, counted apart from what the model itself counts.
#include "on-the-way.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ppp-header.h"
#include "ns3_env/cpp/tcp/network/segment.h"

namespace ns3::env::tcp::test
{

OnTheWay::OnTheWay(const Fabric& fabric)
{
    const auto putOn = [this](Ptr<const QueueDiscItem> item)
    {
        const auto packet = DynamicCast<const Ipv4QueueDiscItem>(item);
        m_bytes[FiveTupleOf(*packet->GetPacket(), packet->GetHeader())] +=
            PayloadOf(*packet->GetPacket(), packet->GetHeader());
    };
    const auto takeOff = [this](Ptr<const Packet> frame)
    {
        const Ptr<Packet> packet = frame->Copy();
        PppHeader link;
        Ipv4Header network;
        packet->RemoveHeader(link);
        packet->RemoveHeader(network);
        m_bytes[FiveTupleOf(*packet, network)] -= PayloadOf(*packet, network);
    };
    for (const Egress& egress : fabric.Egresses())
    {
        const Callback<void, Ptr<const Packet>> off(takeOff);
        egress.queue->TraceConnectWithoutContext("Enqueue",
                                                 Callback<void, Ptr<const QueueDiscItem>>(putOn));
        egress.device->TraceConnectWithoutContext("PhyRxEnd", off);
        egress.device->TraceConnectWithoutContext("PhyRxDrop", off);
    }
}

int64_t
OnTheWay::Bytes() const
{
    int64_t bytes = 0;
    for (const auto& [tuple, some] : m_bytes)
    {
        bytes += some;
    }
    return bytes;
}

int64_t
OnTheWay::BytesOf(const FiveTuple& tuple) const
{
    const auto some = m_bytes.find(tuple);
    return some == m_bytes.end() ? 0 : some->second;
}

} // namespace ns3::env::tcp::test
