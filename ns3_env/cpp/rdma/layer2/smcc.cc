// SPDX-License-Identifier: GPL-2.0-or-later
// SMCC controller, in proportion to the queue's offset or to its change, by state.
#include "associated-point.h"

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

/// Sliding mode congestion control (Jiang 2015, eq. 25), with its two stages of a (sec. 4.4).
class Smcc : public CongestionControl
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

  private:
    /// Decrease of the rate, as a share of the line rate; negative for an increase.
    double Cut(double offsetBytes, double deltaBytes) const
    {
        // State A: away from the target, and not moving towards it. An empty queue does not change, and is in state A.
        if (offsetBytes * deltaBytes >= 0)
        {
            const bool large = std::abs(deltaBytes) > m_deltaThreshold; // sec. 4.4
            return (large ? m_largeStep : m_smallStep) * offsetBytes / m_targetBytes;
        }
        return m_deltaStep * deltaBytes / m_targetBytes; // state B
    }

    double m_largeStep;      ///< attribute LargeStep: R_large = a_large q0
    double m_smallStep;      ///< attribute SmallStep: R_small = a_small q0
    double m_deltaStep;      ///< attribute DeltaStep: R_b = b q0
    double m_targetBytes;    ///< attribute Target
    double m_deltaThreshold; ///< attribute DeltaThreshold: T_1

    AssociatedPoint m_point;
    TracedValue<double> m_offset{0}; ///< Q_off of the last frame
    TracedValue<double> m_delta{0};  ///< dQ of it
};

NS_OBJECT_ENSURE_REGISTERED(Smcc);

TypeId
Smcc::GetTypeId()
{
    static TypeId tid =
        Declaration<Smcc>("rdma::smcc")
            .Number("LargeStep",
                    "Largest change per sample in state A where the queue changes by more than "
                    "DeltaThreshold, as a fraction of the host's link rate (256 Mb/s at 1 Gb/s).",
                    &Smcc::m_largeStep,
                    {0.256, 0.0, 1.0})
            .Number(
                "SmallStep",
                "The same where it changes by less, a_small * q0; equal to LargeStep: one stage.",
                &Smcc::m_smallStep,
                {0.128, 0.0, 1.0})
            .Number("DeltaStep",
                    "Change per sample in state B at a change of the queue by Target: b * q0.",
                    &Smcc::m_deltaStep,
                    {0.064, 0.0, 1.0})
            .Number("Target",
                    "Offset or change of the queue, in bytes, that these steps belong to: q0.",
                    &Smcc::m_targetBytes,
                    {64e3, 1.0, 1e12})
            .Number("DeltaThreshold",
                    "T_1 in bytes: between the two stages.",
                    &Smcc::m_deltaThreshold,
                    {8e3, 0.0, 1e12})
            .State("OffsetBytes",
                   "Q_off of the last frame that it obeyed; with DeltaBytes the phase plane, of "
                   "which quadrants 1 and 3 are state A.",
                   &Smcc::m_offset)
            .State("DeltaBytes", "dQ of the last frame.", &Smcc::m_delta);
    return tid;
}

} // namespace ns3::env::rdma
