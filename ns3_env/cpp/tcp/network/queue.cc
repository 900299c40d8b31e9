// SPDX-License-Identifier: GPL-2.0-or-later
// Queue of an egress: a FIFO with a limit, which may mark, or ns-3's RED.
#include "queue.h"

#include "red-queue.h"

#include "ns3_env/cpp/json/scenario-error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ns3::env::tcp
{

Fifo::Fifo(QueueSpan limit, QueueSpan threshold)
    : m_limit(limit),
      m_threshold(threshold)
{
}

/// Reports whether the queue with `segment` is longer than `span`.
bool
Fifo::IsExceeded(const QueueSpan& span, const Segment& segment) const
{
    return span.inBytes ? Bytes() + segment.ipBytes > span.amount
                        : uint64_t{Packets()} + 1 > span.amount;
}

Arrival
Fifo::Enqueue(Segment* segment)
{
    if (IsExceeded(m_limit, *segment))
    {
        return {};
    }
    const bool marks = segment->ecn != NOT_ECT && IsExceeded(m_threshold, *segment);
    segment->ecn = marks ? CONGESTION_EXPERIENCED : segment->ecn;
    segment->next = nullptr;
    (m_last != nullptr ? m_last->next : m_first) = segment;
    m_last = segment;
    Came(*segment);
    return {.taken = true, .marked = marks};
}

Segment*
Fifo::Dequeue()
{
    Segment* segment = m_first;
    if (segment != nullptr)
    {
        m_first = segment->next;
        m_last = m_first != nullptr ? m_last : nullptr;
        Went(*segment);
    }
    return segment;
}

QueueSpan
SpanOf(const QueueLength& length, const EgressFacts& facts)
{
    constexpr double MOST = std::numeric_limits<uint32_t>::max();
    const double scale = length.unit == QueueLength::Unit::Bdps ? facts.bdpBytes : 1;
    const double amount = std::min(std::floor(length.amount * scale), MOST);
    return {static_cast<uint32_t>(std::max(amount, 0.0)),
            length.unit != QueueLength::Unit::Packets};
}

double
InUnitOf(const QueueSpan& limit, const QueueLength& length, const EgressFacts& facts)
{
    const QueueSpan span = SpanOf(length, facts);
    if (span.inBytes == limit.inBytes)
    {
        return span.amount;
    }
    const double packet = facts.packetBytes;
    return limit.inBytes ? span.amount * packet : span.amount / packet;
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

    std::unique_ptr<PacketQueue> operator()(const DropTail&) const
    {
        return std::make_unique<Fifo>(m_limit);
    }

    std::unique_ptr<PacketQueue> operator()(const EcnThreshold& ecn) const
    {
        QueueLength threshold = ecn.threshold;
        threshold.amount *= ecn.atRateBps ? m_facts.rateBps / *ecn.atRateBps : 1;
        QueueSpan span = SpanOf(threshold, m_facts);
        const double least =
            InUnitOf(span, {ecn.leastPackets, QueueLength::Unit::Packets}, m_facts);
        span.amount = std::max(span.amount, static_cast<uint32_t>(least));
        return std::make_unique<Fifo>(m_limit, span);
    }

    std::unique_ptr<PacketQueue> operator()(const Red& red) const
    {
        return std::make_unique<RedQueue>(m_limit, red, m_facts);
    }

  private:
    const QueueSpan& m_limit;
    const EgressFacts& m_facts;
};

} // namespace

std::unique_ptr<PacketQueue>
MakeQueue(const QueueSettings& settings, const EgressFacts& facts)
{
    const QueueSpan limit = SpanOf(settings.limit, facts);
    const uint32_t least = limit.inBytes ? facts.packetBytes : 1;
    if (limit.amount < least)
    {
        throw ScenarioError("limit",
                            "a queue of " + std::to_string(limit.amount) +
                                (limit.inBytes ? " bytes" : " packets") +
                                " holds no full packet: at least " + std::to_string(least));
    }
    return std::visit(Maker(limit, facts), settings.discipline);
}

std::unique_ptr<PacketQueue>
MakeEndlessQueue()
{
    return std::make_unique<Fifo>(QueueSpan{});
}

} // namespace ns3::env::tcp
