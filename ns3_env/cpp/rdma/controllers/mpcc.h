// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC controller: decision times, telemetry, and the time at which a window takes effect.
#pragma once

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/bottleneck-hop.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/decision-times.h"
#include "ns3_env/cpp/rdma/mpcc/mpcc-control.h"

#include <deque>
#include <memory>
#include <optional>

namespace ns3::env::rdma
{

/// Inputs of the control, from a flow and its state switch.
MpccInput MakeMpccInput(const FlowState& flow, const StateSwitch& state);

/// Model Predictive Congestion Control (Zheng 2024): one QP per ACK, per n ACKs or per round trip.
///
/// Decisions may take simulated time. The window then takes effect that much later, and the model knows: the time counts
/// as input delay (tau_1), and pending windows as inputs. Every decision takes its own time as if the flow had a
/// separate processor, and all take effect in the order in which they were made:
/// a quicker one waits for those before it.
class Mpcc : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override;
    bool IsThreadSafe() const override
    {
        return false;
    } // qpOASES keeps its messages for all together
    double GetWindowFloor(const FlowState& flow) const override
    {
        return m_floorPackets * flow.Path().packetBytes;
    }
    double GetRateFloor(const FlowState& flow) const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnFlowEnd(FlowState& flow, Picos now) override;
    std::vector<std::pair<std::string, double>> GetCounters() const override;
    const DecisionTimes* GetDecisionTimes() const override { return m_times.get(); }

  private:
    /// A window that is not in effect yet.
    struct Pending
    {
        Picos at;
        double windowBytes;
    };

    /// Reports whether to decide on this ACK.
    bool IsDue(const AckSample& ack);
    double Decide(const FlowState& flow, const AckSample& ack);
    /// Traces the inputs and results of the control's last decision.
    void Trace(double bdpBytes);
    /// Decides; its duration is counted, and charged by the attributes.
    double TimedDecide(const FlowState& flow, const AckSample& ack);
    void Apply(FlowState& flow, double windowBytes) const;
    void ApplyPending(FlowState* flow);
    void ScheduleNext(FlowState& flow, Picos now);

    // The attributes of the same names; MpccSettings documents those of the control.
    double m_weightQueue;
    double m_weightWindow;
    double m_queueReference;
    double m_terminalWeight;
    double m_weightChange;
    int m_horizon;
    double m_floorPackets;
    double m_floorShare;
    double m_delayScale;
    double m_intervalScale;
    int m_acksPerDecision;
    Bottleneck m_bottleneck;
    MpccSolver m_solver;
    bool m_shortcut;
    bool m_pacing;
    bool m_atOnce;
    Time m_computationTime;
    bool m_chargeMeasuredTime;
    bool m_measureTime;

    std::optional<MpccControl> m_control;
    // of the control's last decision
    TracedValue<double> m_stateHop{0.0};
    TracedValue<double> m_predictedQueueBytes{0.0};
    TracedValue<double> m_fairShareBytes{0.0};
    TracedValue<uint64_t> m_decisions{0};
    TracedValue<uint64_t> m_qpSolves{0};
    TracedValue<uint64_t> m_qpInfeasible{0};
    int m_acksToSkip{0};
    Picos m_nextDecision{0};
    Picos m_cost{0}; ///< simulated duration of a decision; measured: that of the last one
    std::deque<Pending> m_pending;
    EventId m_effect;                       ///< the first pending window's
    std::unique_ptr<DecisionTimes> m_times; ///< only with MeasureTime
};

} // namespace ns3::env::rdma
