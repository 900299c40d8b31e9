// SPDX-License-Identifier: GPL-2.0-or-later
// How does DCQCN steer a flow? Marks cut its rate by alpha/2, a timer brings it back in three stages.
#ifndef RDMA_DCQCN_H
#define RDMA_DCQCN_H

#include "congestion-control.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

namespace ns3::rdma
{

/**
 * DCQCN's reaction point (Zhu 2015, sec. 3) as the reference simulator runs it: marks come with ACKs,
 * a timer and no byte counter (REFERENCE.md, "Controllers"). Alpha is computed from elapsed time when
 * it is needed, so a flow costs no timer per microsecond; the decrease check is armed only by a mark.
 */
class Dcqcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnFlowEnd(FlowState& flow, Picos now) override;

    double Alpha() const { return m_alpha; }

  protected:
    void DoDispose() override;

  private:
    void OnFirstMark(FlowState& flow, Picos now);
    /// Alpha at `now`: one step of its average per elapsed interval, all but the first without a mark.
    void AdvanceAlpha(Picos now);
    void ArmDecreaseCheck(Picos now);
    void Decrease(FlowState* flow);
    void Increase(FlowState* flow);
    void ArmIncrease();
    void StopTimers();

    double m_gain;             ///< attribute Gain
    Time m_alphaInterval;      ///< attribute AlphaInterval
    Time m_decreaseInterval;   ///< attribute DecreaseInterval
    Time m_increaseInterval;   ///< attribute IncreaseInterval
    uint32_t m_fastRecovery;   ///< attribute FastRecoveryStages
    double m_increaseFraction; ///< attribute AdditiveIncrease
    double m_hyperFraction;    ///< attribute HyperIncrease

    FlowState* m_flow{nullptr};
    bool m_started{false};
    Picos m_origin{0}; ///< the first mark: both timers count from here
    double m_alpha{1.0};
    int64_t m_alphaSteps{0};
    bool m_markedThisStep{false};
    double m_targetBps{0.0};
    uint32_t m_stage{0}; ///< increases since the last decrease
    bool m_checkArmed{false};
    EventId m_decreaseEvent;
    EventId m_increaseEvent;
};

} // namespace ns3::rdma

#endif // RDMA_DCQCN_H
