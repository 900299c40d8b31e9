// SPDX-License-Identifier: GPL-2.0-or-later
// Meter of one egress: what leaves, what waits, and what is lost there or on its link.
#include "egress-meter.h"

#include "queue-factory.h"
#include "segment.h"

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ppp-header.h"
#include "ns3_env/cpp/engine/now.h"

namespace ns3::env::tcp
{

EgressMeter::EgressMeter(PointToPointNetDevice& device, QueueDisc& queue)
    : m_queue(&queue),
      m_slot(PeekPointer(device.GetQueue()))
{
}

std::shared_ptr<EgressMeter>
EgressMeter::At(Ptr<PointToPointNetDevice> device, Ptr<QueueDisc> queue)
{
    const std::shared_ptr<EgressMeter> meter(new EgressMeter(*device, *queue));
    device->TraceConnectWithoutContext("PhyTxBegin",
                                       MakeBoundCallback(&EgressMeter::OnTransmit, meter));
    queue->TraceConnectWithoutContext("Drop", MakeBoundCallback(&EgressMeter::OnDrop, meter));
    return meter;
}

void
EgressMeter::RecordQueue(const std::shared_ptr<EgressMeter>& meter, Picos origin)
{
    meter->m_stats.emplace(origin);
    meter->m_queue->TraceConnectWithoutContext("Enqueue",
                                               MakeBoundCallback(&EgressMeter::OnEnqueue, meter));
}

void
EgressMeter::ChargeLossesAt(PointToPointNetDevice& receiver,
                            const std::shared_ptr<EgressMeter>& meter)
{
    receiver.TraceConnectWithoutContext("PhyRxDrop",
                                        MakeBoundCallback(&EgressMeter::OnLoss, meter));
}

void
EgressMeter::Finish(Picos end)
{
    if (m_stats)
    {
        m_stats->Finish(end);
    }
}

uint64_t
EgressMeter::WaitingBytes() const
{
    const uint64_t inDevice = m_slot->GetNBytes() - m_slot->GetNPackets() * LINK_HEADER_BYTES;
    return m_queue->GetNBytes() + inDevice;
}

uint64_t
EgressMeter::LostOf(const FiveTuple& stream) const
{
    const auto lost = m_lostDatagrams.find(stream);
    return lost == m_lostDatagrams.end() ? 0 : lost->second;
}

void
EgressMeter::Update()
{
    m_stats->Update(WaitingBytes(), NowPicos());
}

void
EgressMeter::OnEnqueue(const std::shared_ptr<EgressMeter>& meter, Ptr<const QueueDiscItem>)
{
    meter->Update();
}

void
EgressMeter::OnTransmit(const std::shared_ptr<EgressMeter>& meter, Ptr<const Packet> frame)
{
    meter->m_txBytes += frame->GetSize();
    ++meter->m_txPackets;
    if (meter->m_stats)
    {
        meter->Update();
    }
}

void
EgressMeter::OnDrop(const std::shared_ptr<EgressMeter>& meter, Ptr<const QueueDiscItem> item)
{
    const auto packet = DynamicCast<const Ipv4QueueDiscItem>(item); // there is nothing but IPv4
    meter->Lose(LossCause::BufferFull, *packet->GetPacket(), packet->GetHeader());
}

void
EgressMeter::OnLoss(const std::shared_ptr<EgressMeter>& meter, Ptr<const Packet> frame)
{
    const Ptr<Packet> packet = frame->Copy();
    PppHeader link;
    Ipv4Header network;
    packet->RemoveHeader(link);
    packet->RemoveHeader(network);
    meter->Lose(LossCause::Link, *packet, network);
}

void
EgressMeter::Lose(LossCause cause, const Packet& segment, const Ipv4Header& header)
{
    const uint32_t payload = PayloadOf(segment, header);
    m_lost.Add(cause, payload);
    if (header.GetProtocol() == UDP_PROTOCOL)
    {
        m_lostDatagrams[FiveTupleOf(segment, header)] += payload;
    }
}

} // namespace ns3::env::tcp
