// SPDX-License-Identifier: GPL-2.0-or-later
// "agent" and "policy" over a base controller, whose window and rate decisions scale.
#ifndef NS3_ENV_DECISION_RESIDUAL_CONTROLLER_H
#define NS3_ENV_DECISION_RESIDUAL_CONTROLLER_H

#include "deciding-controller.h"

#include <string>

namespace ns3::env
{

/**
 * A flow under its base controller, with each ACK, timer and feedback frame as without an agent. At a decision the flow
 * shows the base's window and rate. An action that names others scales what the base says, by the same factors, until
 * the flow's next decision; one that keeps them changes nothing, to the bit. What a base writes from a timer of its own
 * is not scaled. Packets carry what the base reads and, besides, what the policy does.
 *
 * It is a class of its own, so that other agents' packets pay nothing for it: CreateController makes one of an agent
 * with the attribute Base, and of a policy whose file has such an action (docs/policy-format.md).
 *
 * \tparam Own AgentController or PolicyController
 */
template <class Own>
class ResidualController final : public Own
{
  public:
    static TypeId GetTypeId();

    bool IsThreadSafe() const override { return m_base->IsThreadSafe() && Own::IsThreadSafe(); }
    IntRequest GetIntRequestOf(uint64_t sizeBytes, const PathFacts& path) const override;
    double GetWindowFloor(const FlowState& flow) const override;
    double GetRateFloor(const FlowState& flow) const override;
    void OnFlowStart(FlowState& flow) override;
    void OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override;
    void OnNack(FlowState& flow, Picos now) override;
    void OnTimeout(FlowState& flow, Picos now) override;
    void OnFlowEnd(FlowState& flow, Picos now) override;
    void Decide(Picos now) override;
    void Apply(const ActionRow& action) override;

  private:
    /// \param text a controller, and its attributes: "hpcc,Eta=0.9" \throws ScenarioError
    void SetBase(const std::string& text);
    std::string GetBase() const { return m_text; }

    /// Has the base act on its own window and rate.
    template <class Hook>
    void Act(FlowState& flow, const Hook& hook);
    bool IsScaled() const { return m_windowFactor != 1.0 || m_rateFactor != 1.0; }
    /// Takes the base's window and rate as they now are, sets the scaled window and returns the scaled rate.
    double Scale(FlowState& flow);

    std::string m_text;
    Ptr<CongestionControl> m_base;
    double m_windowFactor{1.0};
    double m_rateFactor{1.0};
    double m_baseWindow{0}; ///< where it is scaled, what the base says
    double m_baseRate{0};
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_RESIDUAL_CONTROLLER_H
