// SPDX-License-Identifier: GPL-2.0-or-later
// BCN controller: a switch's feedback lowers the rate by a factor and raises it by steps.
#ifndef NS3_ENV_RDMA_CONTROLLERS_BCN_H
#define NS3_ENV_RDMA_CONTROLLERS_BCN_H

#include "associated-point.h"

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// The reaction point of BCN, the first proposal to 802.1Qau (Jiang 2015, eq. 2).
class Bcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    CongestionPointConfig GetCongestionPointConfig() const override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override;

  private:
    double m_gd;           ///< attribute Gd
    double m_gi;           ///< attribute Gi
    double m_unitFraction; ///< attribute Ru
    double m_targetBytes;  ///< attribute Target
    double m_weight;       ///< attribute Weight
    double m_minDecrease;  ///< attribute MinDecrease

    AssociatedPoint m_point;
    TracedValue<double> m_feedback{0}; ///< Fb of the last frame, in levels of -63 to 63
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_CONTROLLERS_BCN_H
