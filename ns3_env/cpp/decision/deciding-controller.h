// SPDX-License-Identifier: GPL-2.0-or-later
// Base of the controllers under a policy, which hold their flow until a decision has come.
#ifndef NS3_ENV_DECISION_DECIDING_CONTROLLER_H
#define NS3_ENV_DECISION_DECIDING_CONTROLLER_H

#include "agent-observation.h"

#include "ns3_env/cpp/channel/channel-layout.h"
#include "ns3_env/cpp/contract/clock-spec.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/engine/flow.h"

namespace ns3::env
{

class DecisionBroker;

/**
 * Hands the flow's observation to the broker whenever its clock is due and applies what comes back. Under a per-flow
 * clock the flow decides at its first ACK and then again after a fraction of its last RTT (Zhang 2023, sec. 4.4),
 * or at each feedback frame of a switch; otherwise the owner of the clock calls Decide().
 */
class DecidingController : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    /// Joins the flow to its episode; before it starts.
    /// \param inBandTelemetry false where switches report nothing: their fields are NaN then
    void Connect(DecisionBroker& broker,
                 Flow& flow,
                 int32_t slot,
                 const ClockSpec& clock,
                 bool inBandTelemetry);

    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override;
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

  protected:
    bool Quantised() const { return m_quantised; }

  private:
    bool m_quantised{false};
    bool m_initialWindow{true};

    DecisionBroker* m_broker{nullptr};
    Flow* m_flow{nullptr};
    int32_t m_slot{-1};
    ClockSpec m_clock;
    bool m_inBandTelemetry{true};

    AgentObservation m_observation;
    Picos m_nextDecision{0};
    bool m_waiting{false};
    bool m_decided{false};
    double m_lastAction{0};
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_DECIDING_CONTROLLER_H
