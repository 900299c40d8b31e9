// SPDX-License-Identifier: GPL-2.0-or-later
// Random early detection (Floyd and Jacobson 1993) by ns-3's queue disc.
#include "red-queue.h"

#include "ns3/address.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/queue-item.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/json/scenario-error.h"

#include <cmath>
#include <string>

namespace ns3::env::tcp
{

namespace
{

/// A segment as an item of a queue disc.
class SegmentItem final : public QueueDiscItem
{
  public:
    explicit SegmentItem(Segment* segment)
        : QueueDiscItem(nullptr, Address(), 0),
          m_segment(segment)
    {
    }

    Segment* Carried() const { return m_segment; }
    uint32_t GetSize() const override { return m_segment->ipBytes; }
    void AddHeader() override {}

    bool Mark() override
    {
        if (m_segment->ecn == NOT_ECT)
        {
            return false;
        }
        m_segment->ecn = CONGESTION_EXPERIENCED;
        return true;
    }

  private:
    Segment* m_segment;
};

} // namespace

QueueSize
SizeOf(const QueueSpan& span)
{
    return {span.inBytes ? QueueSizeUnit::BYTES : QueueSizeUnit::PACKETS, span.amount};
}

Ptr<RedQueueDisc>
MakeRedDisc(const QueueSpan& limit, const Red& red, const EgressFacts& facts)
{
    const double least = InUnitOf(limit, red.least, facts);
    const double most = InUnitOf(limit, red.most, facts);
    if (!(least <= most) || !(red.highestProbability > 0 && red.highestProbability <= 1))
    {
        throw ScenarioError("marking",
                            "RED marks from " + std::to_string(least) + " to " +
                                std::to_string(most) + " with a probability of " +
                                std::to_string(red.highestProbability) +
                                ": the thresholds ascend, and the probability is in (0, 1]");
    }
    auto disc = CreateObjectWithAttributes<RedQueueDisc>(
        "MaxSize",
        QueueSizeValue(SizeOf(limit)),
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
        UintegerValue(facts.packetBytes),
        "LinkBandwidth",
        DataRateValue(DataRate(static_cast<uint64_t>(std::llround(facts.rateBps)))));
    disc->SetAttribute("LinkDelay", TimeValue(TimeStep(static_cast<uint64_t>(facts.delay))));
    disc->AssignStreams(facts.stream);
    return disc;
}

RedQueue::RedQueue(QueueSpan limit, const Red& red, const EgressFacts& facts)
    : m_limit(limit),
      m_disc(MakeRedDisc(limit, red, facts))
{
    m_disc->Initialize();
}

Arrival
RedQueue::Enqueue(Segment* segment)
{
    const uint32_t marked = m_disc->GetStats().nTotalMarkedPackets;
    if (!m_disc->Enqueue(Create<SegmentItem>(segment)))
    {
        return {};
    }
    Came(*segment);
    return {.taken = true, .marked = m_disc->GetStats().nTotalMarkedPackets > marked};
}

Segment*
RedQueue::Dequeue()
{
    const Ptr<QueueDiscItem> item = m_disc->Dequeue();
    if (!item)
    {
        return nullptr;
    }
    Segment* segment = static_cast<SegmentItem&>(*item).Carried();
    Went(*segment);
    return segment;
}

} // namespace ns3::env::tcp
