// SPDX-License-Identifier: GPL-2.0-or-later
// An agent's observation of a flow, from ACKs and feedback frames since its last decision.
#ifndef NS3_ENV_DECISION_AGENT_OBSERVATION_H
#define NS3_ENV_DECISION_AGENT_OBSERVATION_H

#include "ns3_env/cpp/channel/observation-fields.h"
#include "ns3_env/cpp/contract/congestion-control.h"

#include <array>
#include <optional>

namespace ns3::env
{

/// Follows one flow's ACKs and writes its ObservationRecord at each decision.
class AgentObservation
{
  public:
    void OnAck(const AckSample& ack);
    void OnNotification(const CongestionNotification& frame);

    /// The record at `now`; `lastAction` is the agent's own last one. Begins a new interval.
    ObservationRecord Take(const FlowState& flow, Picos now, double lastAction);

  private:
    struct Congestion
    {
        double queue{0};      ///< of the hop's BDP
        double switchRate{0}; ///< of its bandwidth
        double rateBps{0};
        double flows{0};
    };

    Congestion MostCongested(const FlowState& flow) const;
    void WriteNotified(ObservationRecord& record, const PathFacts& path, Picos now) const;

    std::array<IntRecord, MAX_INT_HOPS> m_hops{};
    std::array<IntRecord, MAX_INT_HOPS> m_hopsBefore{}; ///< at the last decision
    uint8_t m_hopCount{0};
    bool m_haveBefore{false};
    Picos m_rtt{0};
    uint64_t m_acks{0};
    uint64_t m_marks{0};
    uint64_t m_acked{0};
    std::optional<CongestionNotification> m_notified; ///< the last frame
    uint64_t m_notifications{0};

    // at the last decision
    Picos m_since{-1};
    double m_rttBefore{0};
    double m_queueBefore{0};
    bool m_first{true};
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_AGENT_OBSERVATION_H
