// SPDX-License-Identifier: GPL-2.0-or-later
// Random early detection (Floyd and Jacobson 1993) by ns-3's queue disc.
#pragma once

#include "queue.h"

#include "ns3/queue-size.h"
#include "ns3/red-queue-disc.h"

namespace ns3::env::tcp
{

/// A queue disc of ns3::RedQueueDisc for segments.
class RedQueue final : public PacketQueue
{
  public:
    /// \throws ScenarioError if the thresholds are out of order
    RedQueue(QueueSpan limit, const Red& red, const EgressFacts& facts);
    ~RedQueue() override { m_disc->Dispose(); }

    Arrival Enqueue(Segment* segment) override;
    Segment* Dequeue() override;
    bool CountsIdleTime() const override { return true; }
    QueueSpan Limit() const override { return m_limit; }

  private:
    QueueSpan m_limit;
    Ptr<RedQueueDisc> m_disc;
};

/// `length` in its unit, packets or bytes; a number of BDPs is converted to bytes.
QueueSpan SpanOf(const QueueLength& length, const EgressFacts& facts);
/// The same in the unit of `limit`, packets being full ones.
double InUnitOf(const QueueSpan& limit, const QueueLength& length, const EgressFacts& facts);
/// Converts to ns-3's type.
QueueSize SizeOf(const QueueSpan& span);
/// ns-3's disc with these settings, not initialised yet.
/// \throws ScenarioError if the thresholds are out of order
Ptr<RedQueueDisc> MakeRedDisc(const QueueSpan& limit, const Red& red, const EgressFacts& facts);

} // namespace ns3::env::tcp
