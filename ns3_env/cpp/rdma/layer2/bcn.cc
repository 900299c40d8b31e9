// SPDX-License-Identifier: GPL-2.0-or-later
// BCN controller: a switch's feedback lowers the rate by a factor and raises it by steps.
#include "associated-point.h"

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>

namespace ns3::env::rdma
{

namespace
{
constexpr double LEVELS = 63; // of |Fb|, as QCN's 6 bits have
} // namespace

/// The reaction point of BCN, the first proposal to 802.1Qau (Jiang 2015, eq. 2).
class Bcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    CongestionPointConfig GetCongestionPointConfig() const override
    {
        return SamplesOfEitherSign();
    }

    void OnAck(FlowState&, const AckSample&) override {}

    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override
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

  private:
    double m_gd;           ///< attribute Gd
    double m_gi;           ///< attribute Gi
    double m_unitFraction; ///< attribute Ru
    double m_targetBytes;  ///< attribute Target
    double m_weight;       ///< attribute Weight
    double m_minDecrease;  ///< attribute MinDecrease

    AssociatedPoint m_point;
    TracedValue<double> m_feedback{0}; ///< Fb of the last frame, in levels of -63 to 63
};

NS_OBJECT_ENSURE_REGISTERED(Bcn);

TypeId
Bcn::GetTypeId()
{
    static TypeId tid =
        Declaration<Bcn>("rdma::bcn")
            .Number("Gd",
                    "Decrease per level of |Fb|, of which there are 63.",
                    &Bcn::m_gd,
                    {1.0 / 128, 0.0, 1.0})
            .Number("Gi", "Increase per level of Fb, in units of Ru.", &Bcn::m_gi, {4.0, 0.0, 1e6})
            .Number("Ru",
                    "Unit of increase, as a fraction of the host's link rate (1 Mb/s at 1 Gb/s).",
                    &Bcn::m_unitFraction,
                    {1e-3, 0.0, 1.0})
            .Number("Target",
                    "q0 in bytes: |Fb| has its highest level at Target * (2 Weight + 1).",
                    &Bcn::m_targetBytes,
                    {64e3, 1.0, 1e12})
            .Number("Weight", "w: of the queue's change in Fb.", &Bcn::m_weight, {2.0, 0.0, 1e6})
            .Number("MinDecrease",
                    "Least factor of one decrease.",
                    &Bcn::m_minDecrease,
                    {0.5, 0.0, 1.0})
            .State("Feedback",
                   "Fb of the last frame that it obeyed, in levels of -63 to 63; below 0: slower.",
                   &Bcn::m_feedback);
    return tid;
}

} // namespace ns3::env::rdma
