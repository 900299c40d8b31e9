// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the queue of an egress: the one of the settings, or a FIFO that never drops.
#include "queue-factory.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/fifo-queue-disc.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/red-queue-disc.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

constexpr uint32_t NO_LIMIT = std::numeric_limits<uint32_t>::max();

/// `length` in bytes, or in packets if it is given in packets.
QueueSize
SizeOf(const QueueLength& length, const EgressFacts& facts)
{
    const bool packets = length.unit == QueueLength::Unit::Packets;
    const double scale = length.unit == QueueLength::Unit::Bdps ? facts.bdpBytes : 1;
    const double amount = std::min(std::floor(length.amount * scale), double{NO_LIMIT});
    return {packets ? QueueSizeUnit::PACKETS : QueueSizeUnit::BYTES,
            static_cast<uint32_t>(std::max(amount, 0.0))};
}

/// `length` in the unit of `limit`, packets being full ones.
double
InUnitOf(const QueueSize& limit, const QueueLength& length, const EgressFacts& facts)
{
    const QueueSize size = SizeOf(length, facts);
    if (size.GetUnit() == limit.GetUnit())
    {
        return size.GetValue();
    }
    const double packet = facts.packetBytes;
    return limit.GetUnit() == QueueSizeUnit::BYTES ? size.GetValue() * packet
                                                   : size.GetValue() / packet;
}

/// Makes the queue that a discipline names.
class Maker
{
  public:
    Maker(const QueueSize& limit, const EgressFacts& facts)
        : m_limit(limit),
          m_facts(facts)
    {
    }

    Ptr<QueueDisc> operator()(const DropTail&) const
    {
        return CreateObjectWithAttributes<FifoQueueDisc>("MaxSize", QueueSizeValue(m_limit));
    }

    Ptr<QueueDisc> operator()(const EcnThreshold& ecn) const
    {
        QueueLength threshold = ecn.threshold;
        threshold.amount *= ecn.atRateBps ? m_facts.rateBps / *ecn.atRateBps : 1;
        const QueueSize scaled = SizeOf(threshold, m_facts);
        const double least =
            InUnitOf(scaled, {ecn.leastPackets, QueueLength::Unit::Packets}, m_facts);
        const QueueSize size(scaled.GetUnit(),
                             std::max(scaled.GetValue(), static_cast<uint32_t>(least)));
        return CreateObjectWithAttributes<ThresholdQueueDisc>("MaxSize",
                                                              QueueSizeValue(m_limit),
                                                              "Threshold",
                                                              QueueSizeValue(size));
    }

    Ptr<QueueDisc> operator()(const Red& red) const
    {
        const double least = InUnitOf(m_limit, red.least, m_facts);
        const double most = InUnitOf(m_limit, red.most, m_facts);
        auto queue = CreateObjectWithAttributes<RedQueueDisc>(
            "MaxSize",
            QueueSizeValue(m_limit),
            "MinTh",
            DoubleValue(least),
            "MaxTh",
            DoubleValue(most),
            "LInterm",
            DoubleValue(1 / red.highestProbability),
            "QW",
            DoubleValue(red.averageWeight),
            "Gentle",
            BooleanValue(red.gentle),
            "UseEcn",
            BooleanValue(red.ecn),
            "UseHardDrop",
            BooleanValue(!red.ecn),
            "MeanPktSize",
            UintegerValue(m_facts.packetBytes),
            "LinkBandwidth",
            DataRateValue(DataRate(static_cast<uint64_t>(std::llround(m_facts.rateBps)))));
        queue->SetAttribute("LinkDelay", TimeValue(TimeStep(static_cast<uint64_t>(m_facts.delay))));
        queue->AssignStreams(m_facts.stream);
        return queue;
    }

  private:
    const QueueSize& m_limit;
    const EgressFacts& m_facts;
};

} // namespace

Ptr<QueueDisc>
MakeDisc(const QueueSettings& settings, const EgressFacts& facts)
{
    const QueueSize limit = SizeOf(settings.limit, facts);
    return std::visit(Maker(limit, facts), settings.discipline);
}

Ptr<QueueDisc>
MakeEndlessDisc()
{
    return CreateObjectWithAttributes<FifoQueueDisc>(
        "MaxSize",
        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, NO_LIMIT)));
}

} // namespace ns3::env::tcp::stock
