// SPDX-License-Identifier: GPL-2.0-or-later
// T-DCTCP on a TCP socket: ECN marks and RTTs of a window of data, TCP's own slow start.
#pragma once

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/traced-value.h"

#include <cstdint>
#include <optional>

namespace ns3::env::tcp
{

/// Settings by the figure's names; defaults of Liang 2018, sec. 3.4.
struct TDctcpSettings
{
    double gradientWeight{1.0 / 8}; ///< beta. Sec. 4.1 has 1/16, which sec. 3.4 keeps for g
    double alphaWeight{1.0 / 16};   ///< g
    double alphaFactor{1.0 / 8};    ///< alpha from which on marks decide
    double addStep{1};              ///< addstep, sigma, in packets
    double decrement{1.0 / 4};      ///< decre, gamma
    double theta{1.0 /
                 2};     ///< divides alpha / 2 of cases 5 and 7; above 1 they cut less than case 8
    double lowNs{5e6};   ///< T_low, at 100 Mb/s
    double highNs{50e6}; ///< T_high, at 100 Mb/s
    uint32_t hurryAfter{5}; ///< falling RTTs in a row that make case 3 hurry
    double hurry{5};        ///< N of case 3 then
    double initialAlpha{0}; ///< before the first window: nothing has been marked
    double leastPackets{2}; ///< no window is smaller
};

/// The figure's cases, in its order.
enum class TDctcpCase : uint8_t
{
    Clear = 1,     ///< few marks, RTT below T_low: the window grows
    Long,          ///< few marks, RTT above T_high: it shrinks by how far above
    Falling,       ///< few marks, the RTT falls: it grows, after a while faster
    Rising,        ///< few marks, the RTT rises: it shrinks by how fast
    MarkedClear,   ///< marks, RTT below T_low
    MarkedLong,    ///< marks, RTT above T_high: half
    MarkedFalling, ///< marks, the RTT falls
    MarkedRising,  ///< marks, the RTT rises: as DCTCP
};

/// State at the end of a window of data.
struct TDctcpState
{
    double alpha{0};    ///< running share of marked bytes
    double rttNs{0};    ///< new_rtt
    double gradient{0}; ///< normalized_gradient
    uint32_t fallsInARow{
        0}; ///< windows since the gradient was last not negative, this one among them
};

struct TDctcpDecision
{
    TDctcpCase which;
    double packets; ///< the window, before any bound
};

/// Lines 6 to 34: the window after this one, of `packets`.
TDctcpDecision
DecideWindow(const TDctcpSettings& settings, const TDctcpState& state, double packets);

/// T_low or T_high at a line rate: sec. 3.4 derives T_low from the time of a window of 64 kB, which is 5 ms at
/// 100 Mb/s, so that times are inversely proportional to the rate.
double ThresholdNs(double at100MbpsNs, double lineRateBps);

/// Lines 1 to 5: measurements, a window of data at a time.
class TDctcpEstimate
{
  public:
    explicit TDctcpEstimate(const TDctcpSettings& settings);

    /// Ends a window of data, with its last RTT (above 0) and the share of its bytes that were marked.
    void EndWindow(double rttNs, double markedShare);

    /// Updates the minimum RTT between the ends of windows.
    void SeeRtt(double rttNs)
    {
        m_leastRttNs = m_leastRttNs > 0 ? std::min(m_leastRttNs, rttNs) : rttNs;
    }

    const TDctcpState& State() const { return m_state; }

  private:
    double m_gradientWeight;
    double m_alphaWeight;
    TDctcpState m_state;
    double m_differenceNs{0}; ///< rtt_diff
    double m_leastRttNs{0};   ///< minRTT, 0 before the first
};

/// T-DCTCP (Liang 2018). The receiver's exact echo of marks (sec. 3.1) and ECN itself are ns-3's TcpDctcp; its attributes DctcpShiftG and
/// DctcpAlphaOnInit belong to DCTCP's own control and do nothing here.
///
/// When the control's answer takes effect (sec. 3.3: an increase at once, a reduction through the slow start threshold,
/// which TCP asks for at a mark or a loss; docs/sources/tcp.md):
///  - at the end of a window of data, cases 1 to 4; in slow start, which grows as Reno's, only those that shrink the window, and end it;
///  - at a window's first mark, all cases, as DCTCP cuts there;
///  - at a loss, the smaller of the control's window and half of the present one.
///
/// RTTs are those of single packets (the socket's LastRTT), and none of a recovery, which includes the wait for lost
/// data. ns-3's TCP timestamps count milliseconds: switch them off (TcpSocketBase::Timestamp) if RTTs are shorter.
class TDctcp : public TcpDctcp
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override { return "TDctcp"; }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<TDctcp>(this); }
    void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;

  private:
    TDctcpSettings Settings() const;
    void EndWindow(Ptr<TcpSocketState> tcb);
    TDctcpDecision Decide(const TcpSocketState& tcb) const;
    /// Window in bytes, at least LeastWindow.
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
