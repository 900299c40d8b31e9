// SPDX-License-Identifier: GPL-2.0-or-later
// TIMELY controller, by the gradient of a flow's round-trip time.
#include "timely.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Timely);

TypeId
Timely::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::timely")
            .SetParent<CongestionControl>()
            .SetGroupName("Rdma")
            .AddConstructor<Timely>()
            .AddAttribute("Alpha",
                          "Weight of the newest RTT difference.",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&Timely::m_smoothing),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Beta",
                          "Strength of a decrease.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Timely::m_beta),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("LowThreshold",
                          "Below this RTT the rate only grows.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Timely::m_low),
                          MakeTimeChecker(Time(0), Seconds(1000)))
            .AddAttribute("HighThreshold",
                          "Above this RTT the rate only falls.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Timely::m_high),
                          MakeTimeChecker(Time(0), Seconds(1000)))
            .AddAttribute("MinRtt",
                          "Normaliser of the gradient.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Timely::m_minRtt),
                          MakeTimeChecker(NanoSeconds(1), Seconds(1000)))
            .AddAttribute("AdditiveIncrease",
                          "Step, as a fraction of the host's link rate (100 Mb/s at 100 Gb/s).",
                          DoubleValue(1e-3),
                          MakeDoubleAccessor(&Timely::m_increaseFraction),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("HyperIncrease",
                          "Step after HyperAfter increases in a row, likewise.",
                          DoubleValue(5e-3),
                          MakeDoubleAccessor(&Timely::m_hyperFraction),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("HyperAfter",
                          "Increases in a row before hyper-active increase.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Timely::m_hyperAfter),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000))
            .AddAttribute("BdpWindow",
                          "Whether a flow has at most a BDP in flight; otherwise it has no window.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Timely::m_bdpWindow),
                          MakeBooleanChecker())
            .AddTraceSource("RttGradient",
                            "Smoothed difference of RTTs, over MinRtt.",
                            MakeTraceSourceAccessor(&Timely::m_gradient),
                            "ns3::TracedValueCallback::Double");
    return tid;
}

IntRequest
Timely::GetIntRequest() const
{
    return {.wireBytes = 8}; // the sender's timestamp
}

void
Timely::OnFlowStart(FlowState& flow)
{
    if (m_bdpWindow)
    {
        flow.SetWindow(flow.Path().bdpBytes);
    }
}

double
Timely::Decide(double rttNs)
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

void
Timely::OnAck(FlowState& flow, const AckSample& ack)
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
            const double step = m_increases < m_hyperAfter ? m_increaseFraction : m_hyperFraction;
            ++m_increases;
            flow.SetRate(std::min(path.hostRateBps, flow.RateBps() + step * path.hostRateBps));
        }
        else
        {
            m_increases = 0;
            // rates are whole bits per second, as in the reference
            const double reduced = std::floor(flow.RateBps() * factor);
            flow.SetRate(std::max(path.minRateBps, reduced));
        }
    }
    // Behind the ACK stands only a flow that sends again what is acknowledged: no window of it ends.
    if (flow.SentBytes() > m_windowEnd)
    {
        m_windowEnd = flow.SentBytes();
        m_lastRttNs = rttNs;
    }
}

} // namespace ns3::env::rdma
