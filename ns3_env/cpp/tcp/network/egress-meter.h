// SPDX-License-Identifier: GPL-2.0-or-later
// Meter of one egress: what leaves, what waits, and what is lost there or on its link.
#ifndef NS3_ENV_TCP_NETWORK_EGRESS_METER_H
#define NS3_ENV_TCP_NETWORK_EGRESS_METER_H

#include "ecmp-routing.h"

#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3_env/cpp/engine/losses.h"
#include "ns3_env/cpp/engine/queue-stats.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace ns3::env::tcp
{

/**
 * Of one egress. What waits is what its queue holds and the one packet in the device that is not on its way to the link
 * yet, each packet with its IP header and without the link's, as the queue's limit counts it.
 */
class EgressMeter
{
  public:
    /// Counts from now on; device and queue, which hold it, may outlive the meter's owner.
    static std::shared_ptr<EgressMeter> At(Ptr<PointToPointNetDevice> device, Ptr<QueueDisc> queue);

    EgressMeter(const EgressMeter&) = delete;
    EgressMeter& operator=(const EgressMeter&) = delete;

    /// Keeps time-weighted statistics of the bytes that wait, from `origin` on.
    static void RecordQueue(const std::shared_ptr<EgressMeter>& meter, Picos origin);
    /// What `receiver`, at the link's other end, finds corrupt is lost here.
    static void ChargeLossesAt(PointToPointNetDevice& receiver,
                               const std::shared_ptr<EgressMeter>& meter);
    /// Closes the statistics at `end`.
    void Finish(Picos end);

    uint64_t WaitingBytes() const;
    /// Put on the link so far, the link's header included.
    uint64_t TxBytes() const { return m_txBytes; }
    uint64_t TxPackets() const { return m_txPackets; }
    const LossCounts& Lost() const { return m_lost; }
    /// Payload bytes of UDP's datagrams of `stream` that were lost.
    uint64_t LostOf(const FiveTuple& stream) const;
    /// Null where none are kept.
    const QueueStats* Stats() const { return m_stats ? &*m_stats : nullptr; }

  private:
    EgressMeter(PointToPointNetDevice& device, QueueDisc& queue);

    static void OnEnqueue(const std::shared_ptr<EgressMeter>& meter, Ptr<const QueueDiscItem> item);
    static void OnTransmit(const std::shared_ptr<EgressMeter>& meter, Ptr<const Packet> frame);
    static void OnDrop(const std::shared_ptr<EgressMeter>& meter, Ptr<const QueueDiscItem> item);
    static void OnLoss(const std::shared_ptr<EgressMeter>& meter, Ptr<const Packet> frame);

    void Update();
    void Lose(LossCause cause, const Packet& segment, const Ipv4Header& header);

    QueueDisc* m_queue;          ///< it holds this object
    const Queue<Packet>* m_slot; ///< the device's, for one packet
    uint64_t m_txBytes{0};
    uint64_t m_txPackets{0};
    std::optional<QueueStats> m_stats;
    LossCounts m_lost;
    std::unordered_map<FiveTuple, uint64_t, FiveTupleHash, SameFiveTuple> m_lostDatagrams;
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_EGRESS_METER_H
