// SPDX-License-Identifier: GPL-2.0-or-later
// Swift controller, by the distance of a flow's delay from a target (Kumar 2020).
#pragma once

#include "ns3/nstime.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// Swift (Kumar et al., SIGCOMM 2020, Algorithm 1): additive increase below the target delay, a cut in
/// proportion to the excess above it, at most once per round trip. Window only; the rate stays at line.
///
/// The delay is that of the fabric: the simulated hosts add none, so the endpoint window of sec. 3.2 is
/// left out. A window counts packets of payload, as the queue pair's bytes in flight do.
class Swift : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override { return {.wireBytes = 8}; }
    double GetWindowFloor(const FlowState& flow) const override
    {
        return m_minWindow * flow.Path().payloadBytes;
    }
    void OnFlowStart(FlowState& flow) override;
    void OnTakeOver(FlowState& flow, Picos now) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnNack(FlowState& flow, Picos now) override;
    void OnTimeout(FlowState& flow, Picos now) override;

    /// Congestion window in packets; below one the flow sends one packet every RTT / window.
    double WindowPackets() const { return m_window; }
    /// Target delay of the flow's path at a window of `packets` (sec. 3.5).
    Picos TargetDelay(const PathFacts& path, double packets) const;

  private:
    double LargestWindow(const PathFacts& path) const;
    /// Starts with a window of `packets`.
    void Begin(FlowState& flow, double packets, Picos now);
    bool CanDecrease(Picos now) const { return now - m_lastDecrease >= m_rtt; }
    /// Clamps the window, notes the time of a cut and passes the window to the flow.
    void Apply(FlowState& flow, double packets, Picos now);

    Time m_baseTarget;         ///< attribute BaseTarget
    Time m_hopScale;           ///< attribute HopScale
    Time m_flowScaleRange;     ///< attribute FlowScaleRange
    double m_flowScaleMin;     ///< attribute FlowScaleMinWindow
    double m_flowScaleMax;     ///< attribute FlowScaleMaxWindow
    double m_increase;         ///< attribute AdditiveIncrease
    double m_beta;             ///< attribute Beta
    double m_maxDecrease;      ///< attribute MaxDecrease
    double m_minWindow;        ///< attribute MinWindow
    double m_maxWindow;        ///< attribute MaxWindow
    uint32_t m_resetThreshold; ///< attribute RetransmitResetThreshold

    TracedValue<double> m_window{1.0};
    TracedValue<double> m_targetDelayNs{0.0};
    double m_largestWindow{1.0};
    Picos m_rtt{0};
    Picos m_lastDecrease{0};
    uint32_t m_timeouts{0}; ///< in a row
};

} // namespace ns3::env::rdma
