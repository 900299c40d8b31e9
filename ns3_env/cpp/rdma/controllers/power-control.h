// SPDX-License-Identifier: GPL-2.0-or-later
// PowerTCP's control law, with power measured differently by each variant (Addanki 2022).
#pragma once

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// PowerTCP (Addanki et al., NSDI 2022): a window in proportion to the inverse of power, the product of the bottleneck's voltage
/// (BDP and queue) and current (throughput and growth of the queue), over its value on a path that is full without a
/// queue. Flows start with a BDP at line rate, which no window exceeds: more cannot be in flight. tau is
/// the network's largest base RTT, as in sec. 4.1.
class PowerControl : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    void OnFlowStart(FlowState& flow) override;

    /// The smoothed normalised power; 1 before the first measurement.
    double Power() const { return m_power; }

  protected:
    /// Algorithms 1 and 2: smoothing over tau of a power measured over `interval`.
    void Smooth(const PathFacts& path, double power, Picos interval);
    /// UPDATEWINDOW (eq. 7), and the pacing rate w / tau.
    void UpdateWindow(FlowState& flow);
    /// UPDATEOLD: the window is remembered once per round trip.
    void RememberWindow(const FlowState& flow);

  private:
    void Apply(FlowState& flow, double window);

    double m_gain;          ///< attribute Gain
    double m_expectedFlows; ///< attribute ExpectedFlows

    TracedValue<double> m_power{1.0};
    double m_window{0};    ///< cwnd
    double m_oldWindow{0}; ///< cwnd_old
    uint64_t m_rememberedUntil{0};
};

} // namespace ns3::env::rdma
