// SPDX-License-Identifier: GPL-2.0-or-later
// Example of a minimal controller: AIMD on ECN marks (docs/extending.md).
#ifndef RDMA_AIMD_H
#define RDMA_AIMD_H

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// Adds a packet per window; reduces by a share if a packet of the window was marked, once per window.
class Aimd : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    EcnConfig GetEcnConfig() const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;

  private:
    static double LargestWindow(const PathFacts& path);

    double m_increasePackets; ///< attribute Increase
    double m_decrease;        ///< attribute Decrease

    TracedValue<double> m_cutFromBytes{0.0};
    uint64_t m_cutUntil{0}; ///< a cut was made for the data up to this byte
};

} // namespace ns3::env::rdma

#endif // RDMA_AIMD_H
