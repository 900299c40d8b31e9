// SPDX-License-Identifier: GPL-2.0-or-later
// FIFO that marks at one threshold (DCTCP's K), by its length at an arrival.
#ifndef NS3_ENV_TCP_NETWORK_THRESHOLD_QUEUE_DISC_H
#define NS3_ENV_TCP_NETWORK_THRESHOLD_QUEUE_DISC_H

#include "ns3/queue-disc.h"
#include "ns3/queue-size.h"

namespace ns3::env::tcp
{

/**
 * Marks an ECN-capable packet that leaves the queue longer than the threshold; what is not ECN-capable (a SYN, a
 * pure ACK) is dropped at the limit alone. ns-3's RED with both thresholds at K drops it at K.
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

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_THRESHOLD_QUEUE_DISC_H
