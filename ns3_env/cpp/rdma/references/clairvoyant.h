// SPDX-License-Identifier: GPL-2.0-or-later
// References for end hosts: senders that know all live flows without delay.
#pragma once

#include "flow-schedule.h"

#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// What senders could reach at most, by a schedule, if switches only forward: the flow with the least bytes to send gets
/// the rate of its path, the next one the remainder, and a flow without a rate waits. No sender knows other flows, so
/// it is a reference and cannot be deployed. A flow whose packets choose among paths counts on one of them.
class Clairvoyant : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    bool IsThreadSafe() const override { return false; } // all flows have one schedule
    double GetWindowFloor(const FlowState& flow) const override
    {
        return WindowOf(flow.Path(), GetRateFloor(flow));
    }
    double GetRateFloor(const FlowState& flow) const override;
    void OnFlowStart(FlowState& flow) override;
    void OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnNack(FlowState& flow, Picos now) override;
    void OnTimeout(FlowState& flow, Picos now) override { OnNack(flow, now); }

    virtual Order GetOrder() const { return Order::Remaining; }

    /// Puts the flow under a schedule, before it starts. Without one it counts as the only flow.
    void Join(FlowSchedule& schedule, Flow& flow);
    bool IsUnder(const FlowSchedule& schedule) const { return m_schedule == &schedule; }
    /// Lets the flow send at this rate; 0 has it wait.
    void Allow(Flow& flow, double bps) const;

  private:
    double WindowOf(const PathFacts& path, double bps) const
    {
        return m_windowBdp * bps / 8 * static_cast<double>(path.baseRtt) / PS_PER_SECOND;
    }

    double m_windowBdp; ///< attribute WindowBdp
    FlowSchedule* m_schedule{nullptr};
    Flow* m_flow{nullptr};
};

} // namespace ns3::env::rdma
