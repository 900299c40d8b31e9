// SPDX-License-Identifier: GPL-2.0-or-later
// How does MPCC steer a flow? On every ACK, from the state switch's telemetry to the law's window.
#ifndef RDMA_MPCC_H
#define RDMA_MPCC_H

#include "congestion-control.h"
#include "mpcc-law.h"

#include <optional>

namespace ns3::rdma
{

struct StateSwitch;

/// What the law reads, from a flow and its state switch.
MpccInput MakeMpccInput(const FlowState& flow, const StateSwitch& state);

/// Model Predictive Congestion Control (Zheng 2024): one QP per ACK.
class Mpcc : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    TelemetryHeader GetTelemetryHeader() const override;
    double GetWindowFloor(const FlowState& flow) const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    std::vector<std::pair<std::string, double>> GetCounters() const override;

  private:
    void Apply(FlowState& flow, double windowBytes) const;

    // The attributes of the same names; MpccSettings documents them.
    double m_weightQueue;
    double m_weightWindow;
    int m_horizon;
    double m_floorPackets;
    double m_floorShare;
    double m_delayScale;
    double m_intervalScale;
    MpccSolver m_solver;
    bool m_pacing;
    std::optional<MpccLaw> m_law;
};

} // namespace ns3::rdma

#endif // RDMA_MPCC_H
