// SPDX-License-Identifier: GPL-2.0-or-later
// Base of the controllers under a policy, which pause their flow until a decision arrives.
#pragma once

#include "agent-observation.h"
#include "subject.h"

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/clock-spec.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/engine/flow.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <string>

namespace ns3::env
{

class DecisionBroker;
class JobCosts;
class SharingGains;

/// Hands the flow's observation to the broker whenever its clock is due and applies the answer. Under a per-flow
/// clock the flow decides at its first ACK and then again after a fraction of its last RTT (Zhang 2023, sec. 4.4),
/// or at each feedback frame of a switch; otherwise the owner of the clock calls Decide(). If the clock requires it, it
/// also decides before its first packet, by its size and path only. A flow of at most DecidesFromBdps() never decides.
class DecidingController : public CongestionControl, public Subject
{
  public:
    static TypeId GetTypeId();

    /// Joins the flow to its episode; before it starts.
    /// \param inBandTelemetry false if switches report nothing: their fields are then NaN
    /// \param gains, jobs of the episode's flows; queried if the controller reports them
    void Connect(DecisionBroker& broker,
                 Flow& flow,
                 const FlowEntry& entry,
                 const ClockSpec& clock,
                 bool inBandTelemetry,
                 SharingGains& gains,
                 JobCosts& jobs);

    IntRequest GetIntRequestOf(uint64_t sizeBytes, const PathFacts& path) const override;
    /// True unless flows learn of other flows.
    bool IsThreadSafe() const override { return !IsToldOfOthers(); }
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override;
    void OnNack(FlowState& flow, Picos now) override;
    void OnTimeout(FlowState& flow, Picos now) override;
    void OnFlowEnd(FlowState& flow, Picos now) override;

    /// File of the policy that decides; "" across the channel.
    virtual std::string PolicyFile() const = 0;
    /// Requests a decision now.
    void Decide(Picos now);
    /// Called when the episode is truncated while the flow lives.
    void OnCut(Picos now);

    // --- For the broker
    DecisionRow MakeRow(Picos now, uint32_t end) override;
    void Apply(const ActionRow& action) override;
    uint32_t Number() const override { return m_flow->Id(); }
    uint32_t Host() const override { return m_host; }

  protected:
    /// The flow that it decides for.
    Flow& Decided() const { return *m_flow; }

    bool Quantised() const { return m_quantised; }
    /// Flows of up to this number of BDPs leave at line rate, without decisions.
    virtual double DecidesFromBdps() const { return m_decidesFromBdps; }
    /// Flows of up to this number of BDPs carry no telemetry.
    virtual double TelemetryFromBdps() const { return m_telemetryFromBdps; }
    /// Base RTTs from one packet with telemetry to the next, in longer flows; 0: all packets have it.
    virtual double TelemetryEveryRtts() const { return m_telemetryEveryRtts; }
    /// Reports whether its flow observes other flows' costs or gains.
    bool IsToldOfOthers() const { return m_sharingGain || m_jobCost; }

    /// A NACK or a timeout reports a loss, and no decision is under way: the flow may be handed over.
    virtual void OnLoss(Picos /* now */) {}

    /// Hands the flow over to `successor`, which acts only on ACKs, NACKs and timeouts, without further decisions.
    /// \return the window and rate that it has set
    ActionRow HandOver(Ptr<CongestionControl> successor, Picos now);

    TracedValue<uint64_t> m_decisions{0}; ///< actions applied so far

  private:
    /// A policy may go below the minimum rate, as windows under one packet need, but never stop a flow for good.
    static constexpr double LEAST_RATE_SHARE = 0.01;
    /// The window of the minimum rate, which may be below one packet.
    static double LeastWindow(const PathFacts& path);
    /// Decides before the flow's first packet, if the clock requires it.
    void DecideAtStart();
    /// The flow continues with the window and rate that it was given.
    void Resume(double echo);
    bool IsWithoutTelemetry(uint64_t sizeBytes, const PathFacts& path) const;
    void WriteCosts(DecisionRow& row, Picos now);
    void ConsiderLoss(Picos now);

    bool m_quantised{false};
    double m_decidesFromBdps{-1};
    double m_telemetryFromBdps{-1};
    double m_telemetryEveryRtts{-1};
    bool m_initialWindow{true};
    double m_fairnessWeight{0};
    Bottleneck m_bottleneck{Bottleneck::LongestQueue};
    bool m_sharingGain{false};
    bool m_jobCost{false};
    bool m_shorterBacklog{false};

    DecisionBroker* m_broker{nullptr};
    Flow* m_flow{nullptr};
    int32_t m_slot{-1};
    uint32_t m_host{0};
    ClockSpec m_clock;
    bool m_inBandTelemetry{true};
    bool m_undecided{false};        ///< this flow leaves at line rate, for it is short
    bool m_withoutTelemetry{false}; ///< this flow is short, and its packets carry none
    bool m_detour{false};     ///< ACKs are not as of most: some of them do, or it is handed over
    bool m_hadRecords{false}; ///< switches report to this flow
    SharingGains* m_gains{nullptr};
    JobCosts* m_jobs{nullptr};

    Ptr<CongestionControl> m_successor; ///< receives the flow at a hand-over
    AgentObservation m_observation;
    Picos m_nextDecision{0};
    bool m_waiting{false};
    bool m_decided{false};
    Picos m_chargedUntil{0}; ///< where the cost of the next rewarded row starts
    double m_lastAction{0};
};

} // namespace ns3::env
