// SPDX-License-Identifier: GPL-2.0-or-later
// Network card of the published simulator: its order of sending, and its one timer.
#ifndef NS3_ENV_RDMA_PUBLISHED_NIC_H
#define NS3_ENV_RDMA_PUBLISHED_NIC_H

#include "wake-up.h"

#include "ns3_env/cpp/rdma/network/nic.h"

namespace ns3::env::rdma::published
{

/**
 * A network card with one timer (WakeUp), on which a pause holds back ACKs only under some controllers
 * (docs/sources/published-simulator.md, "Bytes on the wire"), and whose turn is a place in the list of
 * flows that is not counted back for those that have left it.
 */
class Nic final : public rdma::Nic
{
  public:
    static TypeId GetTypeId();

    Nic(NetworkContext& network, uint32_t nodeId, bool acksPassPause);

    void RemoveFlow(QueuePair& flow) override;

  private:
    Packet* Dequeue(Picos now) override;
    Picos NextReady(Picos now) override;
    void OnRepaced(const QueuePair& flow, Picos now) override;

    /// The flow whose turn it is, or null; closes the gaps that ended flows have left.
    QueuePair* NextFlow(Picos now);
    /// Whether an ACK, NACK included, is in the high-priority queue. One preset fits all flows of a run there.
    bool PassesPause(const Packet& ack) const;

    size_t m_served{0}; ///< index of the flow served last; null in m_flows where one has ended
    WakeUp m_wakeUp;
    bool m_acksPassPause; ///< of all controllers
    TypeId m_dcqcn;
    TypeId m_timely;
};

} // namespace ns3::env::rdma::published

#endif // NS3_ENV_RDMA_PUBLISHED_NIC_H
