// SPDX-License-Identifier: GPL-2.0-or-later
// SMCC controller, in proportion to the queue's offset or to its change, by state.
#ifndef NS3_ENV_RDMA_CONTROLLERS_SMCC_H
#define NS3_ENV_RDMA_CONTROLLERS_SMCC_H

#include "associated-point.h"

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// Sliding mode congestion control (Jiang 2015, eq. 25), with its two stages of a (sec. 4.4).
class Smcc : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    CongestionPointConfig GetCongestionPointConfig() const override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override;

  private:
    /// What the rate loses, as a share of the line rate; negative where it gains.
    double Cut(double offsetBytes, double deltaBytes) const;

    double m_largeStep;      ///< attribute LargeStep: R_large = a_large q0
    double m_smallStep;      ///< attribute SmallStep: R_small = a_small q0
    double m_deltaStep;      ///< attribute DeltaStep: R_b = b q0
    double m_targetBytes;    ///< attribute Target
    double m_deltaThreshold; ///< attribute DeltaThreshold: T_1

    AssociatedPoint m_point;
    TracedValue<double> m_offset{0}; ///< Q_off of the last frame
    TracedValue<double> m_delta{0};  ///< dQ of it
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_CONTROLLERS_SMCC_H
