// SPDX-License-Identifier: GPL-2.0-or-later
// BCN controller: a switch's feedback lowers the rate by a factor and raises it by steps.
#include "bcn.h"

#include "ns3/double.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>

namespace ns3::env::rdma
{

namespace
{
constexpr double LEVELS = 63; // of |Fb|, as QCN's 6 bits have
} // namespace

NS_OBJECT_ENSURE_REGISTERED(Bcn);

TypeId
Bcn::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::bcn")
            .SetParent<CongestionControl>()
            .SetGroupName("Rdma")
            .AddConstructor<Bcn>()
            .AddAttribute("Gd",
                          "Decrease per level of |Fb|, of which there are 63.",
                          DoubleValue(1.0 / 128),
                          MakeDoubleAccessor(&Bcn::m_gd),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Gi",
                          "Increase per level of Fb, in units of Ru.",
                          DoubleValue(4.0),
                          MakeDoubleAccessor(&Bcn::m_gi),
                          MakeDoubleChecker<double>(0.0, 1e6))
            .AddAttribute(
                "Ru",
                "Unit of increase, as a fraction of the host's link rate (1 Mb/s at 1 Gb/s).",
                DoubleValue(1e-3),
                MakeDoubleAccessor(&Bcn::m_unitFraction),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Target",
                          "q0 in bytes: |Fb| has its highest level at Target * (2 Weight + 1).",
                          DoubleValue(64e3),
                          MakeDoubleAccessor(&Bcn::m_targetBytes),
                          MakeDoubleChecker<double>(1.0, 1e12))
            .AddAttribute("Weight",
                          "w: of the queue's change in Fb.",
                          DoubleValue(2.0),
                          MakeDoubleAccessor(&Bcn::m_weight),
                          MakeDoubleChecker<double>(0.0, 1e6))
            .AddAttribute("MinDecrease",
                          "Least factor of one decrease.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Bcn::m_minDecrease),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddTraceSource(
                "Feedback",
                "Fb of the last frame that it obeyed, in levels of -63 to 63; below 0: slower.",
                MakeTraceSourceAccessor(&Bcn::m_feedback),
                "ns3::TracedValueCallback::Double");
    return tid;
}

CongestionPointConfig
Bcn::GetCongestionPointConfig() const
{
    return SamplesOfEitherSign();
}

void
Bcn::OnAck(FlowState&, const AckSample&)
{
}

void
Bcn::OnCongestionNotification(FlowState& flow, const CongestionNotification& frame)
{
    const PathFacts& path = flow.Path();
    const double range = m_targetBytes * (2 * m_weight + 1);
    const double fb = -(frame.offsetBytes + m_weight * frame.deltaBytes); // Jiang 2015, eq. 1
    const double levels = LEVELS * std::clamp(fb / range, -1.0, 1.0);
    if (fb == 0 || !m_point.Obeys(frame.congestionPoint, fb > 0))
    {
        return;
    }
    m_feedback.Set(levels);
    if (fb < 0) // eq. 2
    {
        const double factor = std::max(1 + m_gd * levels, m_minDecrease);
        flow.SetRate(std::max(flow.RateBps() * factor, path.minRateBps));
        return;
    }
    const double step = m_gi * m_unitFraction * path.hostRateBps * levels; // eq. 2
    flow.SetRate(std::min(flow.RateBps() + step, path.hostRateBps));
    if (flow.RateBps() >= path.hostRateBps)
    {
        m_point.Forget();
    }
}

} // namespace ns3::env::rdma
