// SPDX-License-Identifier: GPL-2.0-or-later
// TIMELY controller, by the gradient of a flow's round-trip time.
#include "ns3/nstime.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

/// TIMELY (Mittal 2015, Algorithm 1), one decision per window of data, rate only (docs/sources/published-simulator.md, "Controllers").
class Timely : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override
    {
        return {.wireBytes = 8}; // the sender's timestamp
    }

    void OnFlowStart(FlowState& flow) override
    {
        if (m_bdpWindow)
        {
            flow.SetWindow(flow.Path().bdpBytes);
        }
        if (m_rateWindow)
        {
            flow.SetWindow(flow.Path().WindowAt(flow.RateBps()));
        }
    }

    void OnAck(FlowState& flow, const AckSample& ack) override
    {
        if (flow.AckedBytes() <= m_windowEnd)
        {
            return;
        }
        const double rttNs = static_cast<double>(ToNanos(ack.rtt));
        const bool first = m_windowEnd == 0;
        if (!first)
        {
            const PathFacts& path = flow.Path();
            const double factor = Decide(rttNs);
            if (factor < 0)
            {
                const bool counts =
                    m_hyperBelowLow || rttNs >= static_cast<double>(m_low.GetNanoSeconds());
                const bool hyper = counts && m_increases >= m_hyperAfter;
                const double step = hyper ? m_hyperFraction : m_increaseFraction;
                m_increases += counts ? 1 : 0;
                flow.SetRate(std::min(path.hostRateBps, flow.RateBps() + step * path.hostRateBps));
            }
            else
            {
                m_increases = 0;
                // rates are whole bits per second, as in the reference
                const double reduced = std::floor(flow.RateBps() * factor);
                flow.SetRate(std::max(path.minRateBps, reduced));
            }
            if (m_rateWindow)
            {
                flow.SetWindow(path.WindowAt(flow.RateBps()));
            }
        }
        // Only a flow that resends acknowledged data is behind the ACK: none of its windows ends.
        if (flow.SentBytes() > m_windowEnd)
        {
            m_windowEnd = flow.SentBytes();
            m_lastRttNs = rttNs;
        }
    }

  private:
    /// Factor of a decrease, or a negative number for an increase.
    double Decide(double rttNs)
    {
        m_differenceNs = (1 - m_smoothing) * m_differenceNs + m_smoothing * (rttNs - m_lastRttNs);
        m_gradient.Set(m_differenceNs / static_cast<double>(m_minRtt.GetNanoSeconds()));
        if (rttNs < static_cast<double>(m_low.GetNanoSeconds()))
        {
            return -1;
        }
        const auto high = static_cast<double>(m_high.GetNanoSeconds());
        if (rttNs > high)
        {
            return 1 - m_beta * (1 - high / rttNs);
        }
        return m_gradient.Get() <= 0 ? -1 : std::max(0.0, 1 - m_beta * m_gradient.Get());
    }

    double m_smoothing;        ///< attribute Alpha
    double m_beta;             ///< attribute Beta
    Time m_low;                ///< attribute LowThreshold
    Time m_high;               ///< attribute HighThreshold
    Time m_minRtt;             ///< attribute MinRtt
    double m_increaseFraction; ///< attribute AdditiveIncrease
    double m_hyperFraction;    ///< attribute HyperIncrease
    uint32_t m_hyperAfter;     ///< attribute HyperAfter
    bool m_hyperBelowLow;      ///< attribute HyperBelowLow
    bool m_bdpWindow;          ///< attribute BdpWindow (Zhang 2023, sec. 5.3)
    bool m_rateWindow;         ///< attribute RateWindow (Li 2019, sec. 5.1)

    double m_lastRttNs{0};
    double m_differenceNs{0};
    TracedValue<double> m_gradient{0};
    uint32_t m_increases{0}; ///< in a row
    uint64_t m_windowEnd{0};
};

NS_OBJECT_ENSURE_REGISTERED(Timely);

TypeId
Timely::GetTypeId()
{
    static TypeId tid =
        Declaration<Timely>("rdma::timely")
            .Number("Alpha",
                    "Weight of the newest RTT difference.",
                    &Timely::m_smoothing,
                    {0.875, 0.0, 1.0})
            .Number("Beta", "Strength of a decrease.", &Timely::m_beta, {0.8, 0.0, 1.0})
            .Number("LowThreshold",
                    "Below this RTT the rate only grows.",
                    &Timely::m_low,
                    {MicroSeconds(50), Time(0), Seconds(1000)})
            .Number("HighThreshold",
                    "Above this RTT the rate only falls.",
                    &Timely::m_high,
                    {MicroSeconds(500), Time(0), Seconds(1000)})
            .Number("MinRtt",
                    "Normaliser of the gradient.",
                    &Timely::m_minRtt,
                    {MicroSeconds(20), NanoSeconds(1), Seconds(1000)})
            .Number("AdditiveIncrease",
                    "Step, as a fraction of the host's link rate (100 Mb/s at 100 Gb/s).",
                    &Timely::m_increaseFraction,
                    {1e-3, 0.0, 1.0})
            .Number("HyperIncrease",
                    "Step after HyperAfter increases in a row, likewise.",
                    &Timely::m_hyperFraction,
                    {5e-3, 0.0, 1.0})
            .Number("HyperAfter",
                    "Increases in a row before hyper-active increase.",
                    &Timely::m_hyperAfter,
                    {5, 0, 1'000'000})
            .Flag("HyperBelowLow",
                  "Whether increases below LowThreshold count towards hyper-active increase, as in "
                  "the published simulator; otherwise each adds AdditiveIncrease (Mittal 2015, "
                  "Algorithm 1).",
                  &Timely::m_hyperBelowLow,
                  true)
            .Flag("BdpWindow",
                  "Whether a flow has at most a BDP in flight; otherwise it has no window.",
                  &Timely::m_bdpWindow,
                  false)
            .Flag("RateWindow",
                  "Whether a flow's window is its rate times the network's largest base RTT, a BDP "
                  "at most.",
                  &Timely::m_rateWindow,
                  false)
            .State("RttGradient", "Smoothed difference of RTTs, over MinRtt.", &Timely::m_gradient);
    return tid;
}

} // namespace ns3::env::rdma
