// SPDX-License-Identifier: GPL-2.0-or-later
// RTT-driven MPC on a TCP socket: RTTs and losses in, a pacing rate out, no binding window.
#ifndef NS3_ENV_TCP_CONTROLLERS_RTTMPC_H
#define NS3_ENV_TCP_CONTROLLERS_RTTMPC_H

#include "rttmpc-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/traced-value.h"

#include <optional>

namespace ns3::env::tcp
{

/**
 * RTT-driven MPC (Lynn et al. 2020). Rates are of payload, which is what ns-3 paces; the socket's pacing is switched on here, from the first
 * packet, and its MaxPacingRate (4 Gb/s by default) is not looked at: MaxRate is the flow's cap.
 *
 * RTTs are those of single packets (the socket's LastRTT), and none of a recovery, which waits for what was lost. ns-3's TCP timestamps
 * count milliseconds: switch them off (TcpSocketBase::Timestamp) where RTTs are shorter.
 */
class RttMpc : public TcpCongestionOps
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override;
    Ptr<TcpCongestionOps> Fork() override;
    void Init(Ptr<TcpSocketState> tcb) override;
    bool HasCongControl() const override;
    void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt) override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& connection,
                     const TcpRateOps::TcpRateSample& sample) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;

  private:
    /// Made at its first use, when attributes are set.
    RttMpcControl& Control();
    void Apply(TcpSocketState& tcb);

    double m_weightTarget;   ///< attribute C1
    double m_weightVariance; ///< attribute C2
    double m_smoothing;      ///< attribute Alpha
    double m_targetShare;    ///< attribute TargetShare
    double m_decayRtts;      ///< attribute DecayRtts
    double m_stepRtts;       ///< attribute StepRtts
    double m_memoryRtts;     ///< attribute MemoryRtts
    double m_probeRtts;      ///< attribute ProbeRtts
    double m_probeGain;      ///< attribute ProbeGain
    DataRate m_initialRate;  ///< attribute InitialRate
    DataRate m_minRate;      ///< attribute MinRate
    DataRate m_maxRate;      ///< attribute MaxRate

    std::optional<RttMpcControl> m_control;
    bool m_rttIsNew{false}; ///< this ACK has brought an RTT
    Time m_lastAckTime{0};
    TracedValue<double> m_bottleneckBps{0};
    TracedValue<double> m_targetRttNs{0};
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_RTTMPC_H
