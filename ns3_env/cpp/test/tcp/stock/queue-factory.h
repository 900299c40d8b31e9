// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the queue of an egress: the one of the settings, or a FIFO that never drops.
#ifndef NS3_ENV_TEST_TCP_STOCK_QUEUE_FACTORY_H
#define NS3_ENV_TEST_TCP_STOCK_QUEUE_FACTORY_H

#include "ns3/queue-disc.h"
#include "ns3/queue-size.h"
#include "ns3_env/cpp/tcp/network/queue.h"

#include <cstdint>

namespace ns3::env::tcp::stock
{

/**
 * Marks an ECN-capable packet that leaves the queue longer than the threshold; one that is not ECN-capable (a SYN, a
 * pure ACK) is dropped only at the limit. ns-3's RED with both thresholds at K drops it at K.
 */
class ThresholdQueueDisc : public QueueDisc
{
  public:
    static TypeId GetTypeId();

    ThresholdQueueDisc();

    static constexpr const char* ABOVE_THRESHOLD = "Above the threshold";
    static constexpr const char* LIMIT_EXCEEDED = "Queue disc limit exceeded";

  private:
    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    /// The queue's length with `item` is more than `size`.
    bool Exceeds(const QueueSize& size, const QueueDiscItem& item) const;

    QueueSize m_threshold;
};

Ptr<QueueDisc> MakeDisc(const QueueSettings& settings, const EgressFacts& facts);

Ptr<QueueDisc> MakeEndlessDisc();

} // namespace ns3::env::tcp::stock

#endif // NS3_ENV_TEST_TCP_STOCK_QUEUE_FACTORY_H
