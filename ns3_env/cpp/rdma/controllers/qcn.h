// SPDX-License-Identifier: GPL-2.0-or-later
// QCN controller: a switch's feedback lowers the rate, its own counter and timer raise it.
#ifndef NS3_ENV_RDMA_CONTROLLERS_QCN_H
#define NS3_ENV_RDMA_CONTROLLERS_QCN_H

#include "ns3/nstime.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// The reaction point of IEEE 802.1Q (clause 32, once 802.1Qau; Jiang 2015, eqs. 3 and 4). The standard's names are in brackets.
class Qcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    CongestionPointConfig GetCongestionPointConfig() const override;
    void OnFlowStart(FlowState& flow) override;
    void OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override;

  private:
    /// Works off the timer's expiries up to `now`.
    void RunTimer(FlowState& flow, Picos now);
    /// Length of a cycle at this stage: half of the whole after fast recovery.
    double Cycle(double whole, uint64_t stage) const;
    Picos TimerCycle(const FlowState& flow) const;
    /// A cycle of the byte counter or the timer is over (self increase; AdjustRates).
    void Increase(FlowState& flow);

    double m_byteReset;      ///< attribute ByteReset (rpgByteReset)
    Time m_timeReset;        ///< attribute TimeReset (rpgTimeReset)
    uint32_t m_threshold;    ///< attribute Threshold (rpgThreshold)
    double m_activeFraction; ///< attribute ActiveIncrease (rpgAiRate)
    double m_hyperFraction;  ///< attribute HyperIncrease (rpgHaiRate)
    double m_gd;             ///< attribute Gd (rpgGd)
    double m_minDecrease;    ///< attribute MinDecrease (rpgMinDecFac)
    bool m_latestTarget;     ///< attribute LatestTarget (Jiang 2015, sec. 2.2)

    bool m_limited{false};           ///< below line rate since a feedback frame
    TracedValue<double> m_target{0}; ///< R (rpTargetRate)
    TracedValue<double> m_byteStage{
        0}; ///< cycles of the counter since the last decrease (rpByteStage)
    TracedValue<double> m_timeStage{0}; ///< of the timer (rpTimeStage)
    double m_bytesLeft{0};              ///< of the counter's cycle (rpByteCount)
    Picos m_timerDue{NEVER};            ///< (RpWhile)
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_CONTROLLERS_QCN_H
