// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the queue of an egress: the one of the settings, or a FIFO that never drops.
#include "queue-factory.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/fifo-queue-disc.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/tcp/network/red-queue.h"

#include <algorithm>
#include <string>

namespace ns3::env::tcp::stock
{

NS_OBJECT_ENSURE_REGISTERED(ThresholdQueueDisc);

TypeId
ThresholdQueueDisc::GetTypeId()
{
    static TypeId tid =
        TypeId("stock::ThresholdQueueDisc")
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

namespace
{

/// Makes the queue that a discipline names.
class Maker
{
  public:
    Maker(const QueueSpan& limit, const EgressFacts& facts)
        : m_limit(limit),
          m_facts(facts)
    {
    }

    Ptr<QueueDisc> operator()(const DropTail&) const
    {
        return CreateObjectWithAttributes<FifoQueueDisc>("MaxSize",
                                                         QueueSizeValue(SizeOf(m_limit)));
    }

    Ptr<QueueDisc> operator()(const EcnThreshold& ecn) const
    {
        QueueLength threshold = ecn.threshold;
        threshold.amount *= ecn.atRateBps ? m_facts.rateBps / *ecn.atRateBps : 1;
        QueueSpan scaled = SpanOf(threshold, m_facts);
        const double least =
            InUnitOf(scaled, {ecn.leastPackets, QueueLength::Unit::Packets}, m_facts);
        scaled.amount = std::max(scaled.amount, static_cast<uint32_t>(least));
        return CreateObjectWithAttributes<ThresholdQueueDisc>("MaxSize",
                                                              QueueSizeValue(SizeOf(m_limit)),
                                                              "Threshold",
                                                              QueueSizeValue(SizeOf(scaled)));
    }

    Ptr<QueueDisc> operator()(const Red& red) const { return MakeRedDisc(m_limit, red, m_facts); }

  private:
    const QueueSpan& m_limit;
    const EgressFacts& m_facts;
};

} // namespace

Ptr<QueueDisc>
MakeDisc(const QueueSettings& settings, const EgressFacts& facts)
{
    const QueueSpan limit = SpanOf(settings.limit, facts);
    return std::visit(Maker(limit, facts), settings.discipline);
}

Ptr<QueueDisc>
MakeEndlessDisc()
{
    return CreateObjectWithAttributes<FifoQueueDisc>("MaxSize",
                                                     QueueSizeValue(SizeOf(QueueSpan{})));
}

} // namespace ns3::env::tcp::stock
