// SPDX-License-Identifier: GPL-2.0-or-later
// T-DCTCP's window as a function of plain numbers: the eight cases of Liang 2018, Fig. 3-2.
#ifndef NS3_ENV_TCP_CONTROLLERS_TDCTCP_CONTROL_H
#define NS3_ENV_TCP_CONTROLLERS_TDCTCP_CONTROL_H

#include <cstdint>

namespace ns3::env::tcp
{

/// By the figure's names; defaults of Liang 2018, sec. 3.4.
struct TDctcpSettings
{
    double gradientWeight{1.0 / 8}; ///< beta. Sec. 4.1 says 1/16, which sec. 3.4 keeps for g
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

/// What is known at the end of a window of data.
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

/**
 * T_low or T_high at a line rate: sec. 3.4 derives T_low from the time of a window of 64 kB, which is 5 ms at
 * 100 Mb/s, so that times are inversely proportional to the rate.
 */
double ThresholdNs(double at100MbpsNs, double lineRateBps);

/// Lines 1 to 5: what is measured, a window of data at a time.
class TDctcpEstimate
{
  public:
    explicit TDctcpEstimate(const TDctcpSettings& settings);

    /// A window of data is over: its last RTT (above 0) and the share of its bytes that were marked.
    void EndWindow(double rttNs, double markedShare);

    /// A smaller least RTT than the windows' ends have shown.
    void SeeRtt(double rttNs);

    const TDctcpState& State() const { return m_state; }

  private:
    double m_gradientWeight;
    double m_alphaWeight;
    TDctcpState m_state;
    double m_differenceNs{0}; ///< rtt_diff
    double m_leastRttNs{0};   ///< minRTT, 0 before the first
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_TDCTCP_CONTROL_H
