// SPDX-License-Identifier: GPL-2.0-or-later
// Open-loop controller: line rate under a constant window, or none.
#ifndef NS3_ENV_RDMA_CONTROLLERS_FIXED_WINDOW_H
#define NS3_ENV_RDMA_CONTROLLERS_FIXED_WINDOW_H

#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// Open loop (Zheng 2024, Figs. 3.2 to 3.5): line rate, at most a constant window in flight.
class FixedWindow : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    double GetWindowFloor(const FlowState& flow) const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;

  private:
    /// In bytes of payload; 0 for none.
    double Window(const FlowState& flow) const;

    double m_windowBytes; ///< attribute Window
    double m_windowBdps;  ///< attribute WindowBdp
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_CONTROLLERS_FIXED_WINDOW_H
