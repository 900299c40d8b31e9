// SPDX-License-Identifier: GPL-2.0-or-later
// How does a flow obey a policy outside the simulator? A controller that asks across the channel.
#ifndef RDMA_AGENT_CONTROLLER_H
#define RDMA_AGENT_CONTROLLER_H

#include "agent-telemetry.h"
#include "channel-layout.h"

#include "ns3_env/rdma/contract/congestion-control.h"
#include "ns3_env/rdma/model/queue-pair.h"

#include <optional>

namespace ns3::rdma
{

class DecisionBroker;

/**
 * "agent": hands the flow's telemetry to the broker whenever its clock says so and applies what comes
 * back. Under a per-flow clock the flow decides at its first ACK and then again after a fraction of its
 * last RTT (Zhang 2023, sec. 4.4); otherwise whoever owns the clock calls Decide().
 */
class AgentController : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    /// Joins the flow to its episode; before it starts.
    void Connect(DecisionBroker& broker,
                 QueuePair& flow,
                 int32_t slot,
                 std::optional<double> rttFraction);

    TelemetryHeader GetTelemetryHeader() const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnFlowEnd(FlowState& flow, Picos now) override;

    /// Asks for a decision now.
    void Decide(Picos now);
    /// The episode is cut while the flow lives.
    void OnCut(Picos now);

    /// @name For the broker
    /// @{
    DecisionRow MakeRow(Picos now);
    void Apply(const ActionRow& action);
    /// @}

  private:
    uint32_t m_telemetryBytes{42};
    bool m_quantised{false};
    bool m_initialWindow{true};

    DecisionBroker* m_broker{nullptr};
    QueuePair* m_flow{nullptr};
    int32_t m_slot{-1};
    std::optional<double> m_rttFraction;

    AgentTelemetry m_telemetry;
    Picos m_nextDecision{0};
    bool m_waiting{false};
    bool m_decided{false};
    double m_lastAction{0};
};

} // namespace ns3::rdma

#endif // RDMA_AGENT_CONTROLLER_H
