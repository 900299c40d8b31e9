// SPDX-License-Identifier: GPL-2.0-or-later
// PowerTCP's control law, with power measured differently by each variant (Addanki 2022).
#include "power-control.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(PowerControl);

namespace
{
constexpr double LEAST_POWER = 1e-6; // of an idle path: any window is allowed, up to the largest
} // namespace

TypeId
PowerControl::GetTypeId()
{
    static TypeId tid =
        Declaration<PowerControl>("rdma::PowerControl")
            .Number("Gain",
                    "gamma of eq. 7: weight of the new window (Addanki 2022, sec. 3.3).",
                    &PowerControl::m_gain,
                    {0.9, 1e-3, 1.0})
            .Number("ExpectedFlows",
                    "N: the additive increase beta is a BDP over N (Addanki 2022, sec. 3.3, "
                    "without a value). As many flows at one link hold a queue of a BDP.",
                    &PowerControl::m_expectedFlows,
                    {100.0, 1.0, 1e9})
            .State("Power",
                   "Smoothed normalised power, Gamma over b^2 tau.",
                   &PowerControl::m_power);
    return tid;
}

void
PowerControl::OnFlowStart(FlowState& flow)
{
    m_window = flow.Path().maxBdpBytes; // sec. 3.3: cwnd_init = HostBw * tau
    m_oldWindow = m_window;
    Apply(flow, m_window);
}

void
PowerControl::Smooth(const PathFacts& path, double power, Picos interval)
{
    const auto tau = static_cast<double>(path.maxBaseRtt);
    const double weight = std::min(static_cast<double>(interval) / tau, 1.0);
    m_power.Set((1 - weight) * m_power.Get() + weight * std::max(power, 0.0)); // line 24
}

void
PowerControl::UpdateWindow(FlowState& flow)
{
    const double beta = flow.Path().maxBdpBytes / m_expectedFlows; // sec. 3.3
    const double target = m_oldWindow / std::max(m_power.Get(), LEAST_POWER) + beta;
    Apply(flow, m_gain * target + (1 - m_gain) * m_window); // eq. 7, line 27
}

void
PowerControl::RememberWindow(const FlowState& flow)
{
    if (flow.AckedBytes() > m_rememberedUntil)
    {
        m_oldWindow = m_window;
        m_rememberedUntil = std::max(m_rememberedUntil, flow.SentBytes());
    }
}

void
PowerControl::Apply(FlowState& flow, double window)
{
    const PathFacts& path = flow.Path();
    const double least = path.payloadBytes;
    m_window = std::clamp(window, least, std::max(least, path.maxBdpBytes));
    flow.SetWindow(m_window);
    // line 6
    flow.SetRate(std::clamp(path.hostRateBps * m_window / path.maxBdpBytes,
                            path.minRateBps,
                            path.hostRateBps));
}

} // namespace ns3::env::rdma
