// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the queue of an egress: the one of the settings, or a FIFO that never drops.
#ifndef NS3_ENV_TCP_NETWORK_QUEUE_FACTORY_H
#define NS3_ENV_TCP_NETWORK_QUEUE_FACTORY_H

#include "tcp-settings.h"

#include "ns3/queue-disc.h"
#include "ns3/queue-size.h"

#include <cstdint>

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

/// IP and TCP headers without options.
inline constexpr uint32_t HEADER_BYTES = 40;
/// What the link adds: PPP's protocol field.
inline constexpr uint32_t LINK_HEADER_BYTES = 2;
/// TCP's options are no longer.
inline constexpr uint32_t MAX_OPTION_BYTES = 40;

/// What a queue may depend on.
struct EgressFacts
{
    double rateBps{0};
    Picos delay{0};          ///< of the link
    double bdpBytes{0};      ///< of the port's rate and the longest base RTT of two hosts
    uint32_t packetBytes{0}; ///< of a full segment with its IP header
    int64_t stream{0};       ///< of random numbers
};

/// \throws ScenarioError where the queue holds no full packet, or RED's thresholds are in no order
Ptr<QueueDisc> MakeQueue(const QueueSettings& settings, const EgressFacts& facts);

Ptr<QueueDisc> MakeEndlessQueue();

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_QUEUE_FACTORY_H
