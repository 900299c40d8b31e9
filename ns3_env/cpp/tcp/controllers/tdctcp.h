// SPDX-License-Identifier: GPL-2.0-or-later
// T-DCTCP on a TCP socket: ECN marks and RTTs of a window of data, TCP's own slow start.
#ifndef NS3_ENV_TCP_CONTROLLERS_TDCTCP_H
#define NS3_ENV_TCP_CONTROLLERS_TDCTCP_H

#include "tdctcp-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/traced-value.h"

#include <optional>

namespace ns3::env::tcp
{

/**
 * T-DCTCP (Liang 2018). The receiver's exact echo of marks (sec. 3.1) and ECN itself are ns-3's TcpDctcp; its attributes DctcpShiftG and
 * DctcpAlphaOnInit belong to DCTCP's own control and do nothing here.
 *
 * When the control's answer takes effect (sec. 3.3 says: an increase at once, a reduction through the slow start threshold, which TCP asks for
 * at a mark or a loss; docs/sources/tcp.md):
 *  - at the end of a window of data, cases 1 to 4; in slow start, which grows as Reno's, only those that shrink the window, and end it;
 *  - at a window's first mark, all cases, as DCTCP cuts there;
 *  - at a loss, the smaller of the control's window and half of the present one.
 *
 * RTTs are those of single packets (the socket's LastRTT), and none of a recovery, which waits for what was lost. ns-3's TCP timestamps
 * count milliseconds: switch them off (TcpSocketBase::Timestamp) where RTTs are shorter.
 */
class TDctcp : public TcpDctcp
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override;
    Ptr<TcpCongestionOps> Fork() override;
    void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;

  private:
    TDctcpSettings Settings() const;
    void EndWindow(Ptr<TcpSocketState> tcb);
    TDctcpDecision Decide(const TcpSocketState& tcb) const;
    /// In bytes, no less than LeastWindow.
    uint32_t WindowOf(double packets, const TcpSocketState& tcb) const;

    double m_gradientWeight; ///< attribute Beta
    double m_alphaWeight;    ///< attribute G
    double m_alphaFactor;    ///< attribute AlphaFactor
    double m_addStep;        ///< attribute AddStep
    double m_decrement;      ///< attribute Decrement
    double m_theta;          ///< attribute Theta
    Time m_low;              ///< attribute LowThreshold
    Time m_high;             ///< attribute HighThreshold
    DataRate m_lineRate;     ///< attribute LineRate
    uint32_t m_hurryAfter;   ///< attribute HurryAfter
    double m_hurry;          ///< attribute Hurry
    double m_initialAlpha;   ///< attribute InitialAlpha
    double m_leastPackets;   ///< attribute LeastWindow
    bool m_cutUnmarked;      ///< attribute CutUnmarked

    std::optional<TDctcpEstimate> m_estimate; ///< from the first ACK on
    std::optional<SequenceNumber32> m_windowEnd;
    uint64_t m_ackedBytes{0}; ///< in this window of data
    uint64_t m_markedBytes{0};
    TracedValue<double> m_alpha{0};
    TracedValue<double> m_gradient{0};
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_TDCTCP_H
