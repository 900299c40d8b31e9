// SPDX-License-Identifier: GPL-2.0-or-later
// RTT-driven MPC on a TCP socket: RTTs and losses in, a pacing rate out, no binding window.
#include "rttmpc-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace ns3::env::tcp
{

namespace
{

/// The window in rate x l_B, the most that is ever in flight: twice, so that it does not bind before a rate does.
constexpr double SPARE = 2;
/// Packets that delayed ACKs and a rate below a packet per RTT need.
constexpr double LEAST_PACKETS = 4;

DataRate
RateOf(double bps)
{
    return DataRate(static_cast<uint64_t>(std::min(bps, 1e18))); // an estimate may be anything
}

} // namespace

/// RTT-driven MPC (Lynn et al. 2020). Rates are of payload, which is what ns-3 paces; the socket's pacing is switched on
/// here, from the first packet, and its MaxPacingRate (4 Gb/s by default) is not used: MaxRate is the flow's cap.
///
/// RTTs are those of single packets (the socket's LastRTT), and none of a recovery, which includes the wait for lost
/// data. ns-3's TCP timestamps count milliseconds: switch them off (TcpSocketBase::Timestamp) if RTTs are shorter.
class RttMpc : public TcpCongestionOps
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override { return "RttMpc"; }

    Ptr<TcpCongestionOps> Fork() override { return CopyObject<RttMpc>(this); }

    void Init(Ptr<TcpSocketState> tcb) override
    {
        tcb->m_pacing = true;
        tcb->m_paceInitialWindow = true;
        tcb->m_pacingRate = m_initialRate;
    }

    bool HasCongControl() const override { return true; }

    void PktsAcked(Ptr<TcpSocketState> tcb,
                   uint32_t /* segmentsAcked */,
                   const Time& /* smoothed */) override
    {
        // Of a duplicate ACK or a hole that was filled, ns-3's last RTT is an older one, or has the retransmission in it.
        m_rttIsNew = tcb->m_congState == TcpSocketState::CA_OPEN;
    }

    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& /* connection */,
                     const TcpRateOps::TcpRateSample& /* sample */) override
    {
        if (std::exchange(m_rttIsNew, false))
        {
            m_lastAckTime = Simulator::Now();
            Control().OnAck(m_lastAckTime.GetNanoSeconds(), tcb->m_lastRtt.Get().GetNanoSeconds());
        }
        Apply(*tcb);
    }

    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override
    {
        if (newState == TcpSocketState::CA_RECOVERY || newState == TcpSocketState::CA_LOSS)
        {
            Control().OnLoss();
            Apply(*tcb);
        }
    }

    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override
    {
        if (event != TcpSocketState::CA_EVENT_TX_START)
        {
            return;
        }
        // Below a packet per RTT nothing is in flight before each packet: the flow was idle if more than a packet's time
        // has passed.
        const Time packet = tcb->m_pacingRate.Get().CalculateBytesTxTime(tcb->m_segmentSize);
        if (Simulator::Now() - m_lastAckTime > packet)
        {
            Control().Resume(Simulator::Now().GetNanoSeconds());
        }
        tcb->m_pacingRate = RateOf(Control().RateBps()); // also the first packet's
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t /* bytesInFlight */) override
    {
        return tcb->m_cWnd;
    }

  private:
    /// Created at its first use, when attributes are set.
    RttMpcControl& Control()
    {
        if (!m_control)
        {
            m_control.emplace(RttMpcSettings{
                .weightTarget = m_weightTarget,
                .weightVariance = m_weightVariance,
                .smoothing = m_smoothing,
                .targetShare = m_targetShare,
                .decayRtts = m_decayRtts,
                .stepRtts = m_stepRtts,
                .memoryRtts = m_memoryRtts,
                .probeRtts = m_probeRtts,
                .probeGain = m_probeGain,
                .initialBps = static_cast<double>(m_initialRate.GetBitRate()),
                .leastBps = static_cast<double>(m_minRate.GetBitRate()),
                .largestBps = static_cast<double>(m_maxRate.GetBitRate()),
            });
        }
        return *m_control;
    }

    void Apply(TcpSocketState& tcb)
    {
        const RttMpcControl& control = Control();
        tcb.m_pacingRate = RateOf(control.RateBps());
        const double rttNs = std::max(
            {control.Range().MaxNs(), static_cast<double>(tcb.m_lastRtt.Get().GetNanoSeconds())});
        const double bytes =
            SPARE * control.RateBps() * rttNs / 8e9 + LEAST_PACKETS * tcb.m_segmentSize;
        tcb.m_cWnd = static_cast<uint32_t>(
            std::min(bytes, static_cast<double>(std::numeric_limits<int32_t>::max())));
        m_bottleneckBps = control.BottleneckBps();
        m_targetRttNs = control.TargetNs();
    }

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

NS_OBJECT_ENSURE_REGISTERED(RttMpc);

TypeId
RttMpc::GetTypeId()
{
    static constexpr RttMpcSettings DEFAULTS;
    static TypeId tid =
        Declaration<RttMpc, TcpCongestionOps>("tcp::rttmpc")
            .Number("C1",
                    "Weight of the RTT's distance from its target: c1 (Lynn et al. 2020, eqs. 7 "
                    "and 8). More is faster, and less stable.",
                    &RttMpc::m_weightTarget,
                    {DEFAULTS.weightTarget, 0.0, 1.0})
            .Number("C2",
                    "Weight of the RTT's variance: c2; 1 - C1 - C2 is that of the rate's, c3 (Lynn "
                    "et al. 2020, eqs. 7 and 8).",
                    &RttMpc::m_weightVariance,
                    {DEFAULTS.weightVariance, 0.0, 1.0})
            .Number(
                "Alpha",
                "Weight of the newest RTT in the running average: alpha (Lynn et al. 2020, eq. 8).",
                &RttMpc::m_smoothing,
                {DEFAULTS.smoothing, 0.0, 1.0})
            .Number("TargetShare",
                    "Where the target RTT lies between propagation RTT (0) and bottleneck RTT (1): "
                    "halfway in Lynn et al. 2020, sec. 4.2.",
                    &RttMpc::m_targetShare,
                    {DEFAULTS.targetShare, 0.0, 1.0})
            .Number("DecayRtts",
                    "Decay time of the least and the largest RTT, in running averages of the RTT: "
                    "tau_d (Lynn et al. 2020, eq. 3).",
                    &RttMpc::m_decayRtts,
                    {DEFAULTS.decayRtts, 1.0, 1e12})
            .Number("StepRtts",
                    "From one optimum (Lynn et al. 2020, eq. 7) to the next, in RTTs; 0: at every "
                    "ACK, which swings where an RTT has many.",
                    &RttMpc::m_stepRtts,
                    {DEFAULTS.stepRtts, 0.0, 1e6})
            .Number("MemoryRtts",
                    "Memory of the bottleneck rate, in RTTs; 0: all that was sent counts (Lynn et "
                    "al. 2020, eq. 6).",
                    &RttMpc::m_memoryRtts,
                    {DEFAULTS.memoryRtts, 0.0, 1e12})
            .Number("ProbeRtts",
                    "From one probe to the next, in running averages of the RTT; 0: none but after "
                    "losses. Probes of propagation and bottleneck RTT take turns (Lynn et al. "
                    "2020, sec. 2).",
                    &RttMpc::m_probeRtts,
                    {DEFAULTS.probeRtts, 0.0, 1e12})
            .Number("ProbeGain",
                    "A probe sends at 1 + gain or 1 - gain times the rate; a flow that starts "
                    "grows by 1 + gain per RTT.",
                    &RttMpc::m_probeGain,
                    {DEFAULTS.probeGain, 0.0, 1.0})
            .Add("InitialRate",
                 "Rate of payload that a flow starts at.",
                 DataRateValue(RateOf(DEFAULTS.initialBps)),
                 MakeDataRateAccessor(&RttMpc::m_initialRate),
                 MakeDataRateChecker())
            .Add("MinRate",
                 "Rate of payload that a flow never falls below (Lynn et al. 2020, Fig. 5: 5 Gb/s "
                 "of 40).",
                 DataRateValue(RateOf(DEFAULTS.leastBps)),
                 MakeDataRateAccessor(&RttMpc::m_minRate),
                 MakeDataRateChecker())
            .Add("MaxRate",
                 "The flow's cap, of payload (Lynn et al. 2020, sec. 3).",
                 DataRateValue(RateOf(DEFAULTS.largestBps)),
                 MakeDataRateAccessor(&RttMpc::m_maxRate),
                 MakeDataRateChecker())
            .State("BottleneckBps",
                   "Estimate of the bottleneck's rate (Lynn et al. 2020, eq. 6).",
                   &RttMpc::m_bottleneckBps)
            .State("TargetRttNs", "The RTT that is aimed at.", &RttMpc::m_targetRttNs);
    return tid;
}

} // namespace ns3::env::tcp
