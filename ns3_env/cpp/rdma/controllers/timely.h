// SPDX-License-Identifier: GPL-2.0-or-later
// TIMELY controller, by the gradient of a flow's round-trip time.
#ifndef NS3_ENV_RDMA_CONTROLLERS_TIMELY_H
#define NS3_ENV_RDMA_CONTROLLERS_TIMELY_H

#include "ns3/nstime.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// TIMELY (Mittal 2015, Algorithm 1), one decision per window of data, rate only (docs/sources/published-simulator.md, "Controllers").
class Timely : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;

  private:
    /// Factor of a decrease, or a negative number for an increase.
    double Decide(double rttNs);

    double m_smoothing;        ///< attribute Alpha
    double m_beta;             ///< attribute Beta
    Time m_low;                ///< attribute LowThreshold
    Time m_high;               ///< attribute HighThreshold
    Time m_minRtt;             ///< attribute MinRtt
    double m_increaseFraction; ///< attribute AdditiveIncrease
    double m_hyperFraction;    ///< attribute HyperIncrease
    uint32_t m_hyperAfter;     ///< attribute HyperAfter
    bool m_bdpWindow;          ///< attribute BdpWindow (Zhang 2023, sec. 5.3)

    double m_lastRttNs{0};
    double m_differenceNs{0};
    TracedValue<double> m_gradient{0};
    uint32_t m_increases{0}; ///< in a row
    uint64_t m_windowEnd{0};
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_CONTROLLERS_TIMELY_H
