// SPDX-License-Identifier: GPL-2.0-or-later
// FIFO that marks at one threshold (DCTCP's K), by its length at an arrival.
#include "threshold-queue-disc.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/object-factory.h"

namespace ns3::env::tcp
{

NS_OBJECT_ENSURE_REGISTERED(ThresholdQueueDisc);

TypeId
ThresholdQueueDisc::GetTypeId()
{
    static TypeId tid =
        TypeId("tcp::ThresholdQueueDisc")
            .SetParent<QueueDisc>()
            .SetGroupName("Tcp")
            .AddConstructor<ThresholdQueueDisc>()
            .AddAttribute("MaxSize",
                          "Most packets or bytes",
                          QueueSizeValue(QueueSize("100p")),
                          MakeQueueSizeAccessor(&QueueDisc::SetMaxSize, &QueueDisc::GetMaxSize),
                          MakeQueueSizeChecker())
            .AddAttribute("Threshold",
                          "Packets or bytes above which an arrival is marked",
                          QueueSizeValue(QueueSize("65p")),
                          MakeQueueSizeAccessor(&ThresholdQueueDisc::m_threshold),
                          MakeQueueSizeChecker());
    return tid;
}

ThresholdQueueDisc::ThresholdQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE)
{
}

bool
ThresholdQueueDisc::Exceeds(const QueueSize& size, const QueueDiscItem& item) const
{
    return size.GetUnit() == QueueSizeUnit::PACKETS
               ? GetNPackets() + 1 > size.GetValue()
               : uint64_t{GetNBytes()} + item.GetSize() > size.GetValue();
}

bool
ThresholdQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    if (Exceeds(GetMaxSize(), *item))
    {
        DropBeforeEnqueue(item, LIMIT_EXCEEDED);
        return false;
    }
    if (Exceeds(m_threshold, *item))
    {
        Mark(item, ABOVE_THRESHOLD);
    }
    return GetInternalQueue(0)->Enqueue(item);
}

Ptr<QueueDiscItem>
ThresholdQueueDisc::DoDequeue()
{
    return GetInternalQueue(0)->Dequeue();
}

bool
ThresholdQueueDisc::CheckConfig()
{
    if (GetNInternalQueues() == 0)
    {
        AddInternalQueue(
            CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>("MaxSize",
                                                                     QueueSizeValue(GetMaxSize())));
    }
    return GetNInternalQueues() == 1 && GetNQueueDiscClasses() == 0 && GetNPacketFilters() == 0;
}

void
ThresholdQueueDisc::InitializeParams()
{
}

} // namespace ns3::env::tcp
