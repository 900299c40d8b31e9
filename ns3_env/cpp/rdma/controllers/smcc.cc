// SPDX-License-Identifier: GPL-2.0-or-later
// SMCC controller, in proportion to the queue's offset or to its change, by state.
#include "smcc.h"

#include "ns3/double.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Smcc);

TypeId
Smcc::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::smcc")
            .SetParent<CongestionControl>()
            .SetGroupName("Rdma")
            .AddConstructor<Smcc>()
            .AddAttribute(
                "LargeStep",
                "Largest change per sample in state A where the queue changes by more than "
                "DeltaThreshold, as a fraction of the host's link rate (256 Mb/s at 1 Gb/s).",
                DoubleValue(0.256),
                MakeDoubleAccessor(&Smcc::m_largeStep),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "SmallStep",
                "The same where it changes by less, a_small * q0; equal to LargeStep: one stage.",
                DoubleValue(0.128),
                MakeDoubleAccessor(&Smcc::m_smallStep),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "DeltaStep",
                "Change per sample in state B at a change of the queue by Target: b * q0.",
                DoubleValue(0.064),
                MakeDoubleAccessor(&Smcc::m_deltaStep),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "Target",
                "Offset or change of the queue, in bytes, that these steps belong to: q0.",
                DoubleValue(64e3),
                MakeDoubleAccessor(&Smcc::m_targetBytes),
                MakeDoubleChecker<double>(1.0, 1e12))
            .AddAttribute("DeltaThreshold",
                          "T_1 in bytes: between the two stages.",
                          DoubleValue(8e3),
                          MakeDoubleAccessor(&Smcc::m_deltaThreshold),
                          MakeDoubleChecker<double>(0.0, 1e12))
            .AddTraceSource(
                "OffsetBytes",
                "Q_off of the last frame that it obeyed; with DeltaBytes the phase plane, of which "
                "quadrants 1 and 3 are state A.",
                MakeTraceSourceAccessor(&Smcc::m_offset),
                "ns3::TracedValueCallback::Double")
            .AddTraceSource("DeltaBytes",
                            "dQ of the last frame.",
                            MakeTraceSourceAccessor(&Smcc::m_delta),
                            "ns3::TracedValueCallback::Double");
    return tid;
}

CongestionPointConfig
Smcc::GetCongestionPointConfig() const
{
    return SamplesOfEitherSign();
}

void
Smcc::OnAck(FlowState&, const AckSample&)
{
}

double
Smcc::Cut(double offsetBytes, double deltaBytes) const
{
    // State A: away from the target, and not on the way to it. An empty queue does not change, and is in it.
    if (offsetBytes * deltaBytes >= 0)
    {
        const bool large = std::abs(deltaBytes) > m_deltaThreshold; // sec. 4.4
        return (large ? m_largeStep : m_smallStep) * offsetBytes / m_targetBytes;
    }
    return m_deltaStep * deltaBytes / m_targetBytes; // state B
}

void
Smcc::OnCongestionNotification(FlowState& flow, const CongestionNotification& frame)
{
    const PathFacts& path = flow.Path();
    const double cut = Cut(frame.offsetBytes, frame.deltaBytes) * path.hostRateBps;
    if (cut == 0 || !m_point.Obeys(frame.congestionPoint, cut < 0))
    {
        return;
    }
    m_offset.Set(frame.offsetBytes);
    m_delta.Set(frame.deltaBytes);
    flow.SetRate(std::clamp(flow.RateBps() - cut, path.minRateBps, path.hostRateBps)); // eq. 25
    if (flow.RateBps() >= path.hostRateBps)
    {
        m_point.Forget();
    }
}

} // namespace ns3::env::rdma
