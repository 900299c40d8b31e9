// SPDX-License-Identifier: GPL-2.0-or-later
// DCTCP controller of an RDMA flow, by the fraction of marked packets in a window.
#pragma once

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// DCTCP (Alizadeh 2010) as the reference simulator runs it on queue pairs: rate and window together,
/// line-rate start, no delayed ACK (docs/sources/published-simulator.md, "Controllers").
class Dctcp : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    EcnConfig GetEcnConfig() const override;
    void OnFlowStart(FlowState& flow) override { Apply(flow, flow.Path().hostRateBps); }
    void OnAck(FlowState& flow, const AckSample& ack) override;
    double GetWindowFloor(const FlowState& flow) const override
    {
        return flow.Path().WindowAt(flow.Path().minRateBps);
    }

    double Alpha() const { return m_alpha; }

  private:
    bool BeginsWindow(const FlowState& flow);
    void Apply(FlowState& flow, double rateBps) const;

    double m_gain;             ///< attribute Gain
    double m_increaseFraction; ///< attribute AdditiveIncrease
    bool m_packetIncrease;     ///< attribute PacketIncrease

    TracedValue<double> m_alpha{1.0};
    uint64_t m_windowEnd{0}; ///< the window ends when this byte is acknowledged
    uint64_t m_windowPackets{0};
    uint64_t m_marks{0};
    bool m_reduced{false}; ///< the rate was cut for the data up to m_reducedUntil
    uint64_t m_reducedUntil{0};
};

} // namespace ns3::env::rdma
