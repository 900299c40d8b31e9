// SPDX-License-Identifier: GPL-2.0-or-later
// A flow's distance from RL-CC's target of RTT x sqrt(rate): an input, and a reward.
#ifndef NS3_ENV_POLICY_RTT_TARGET_H
#define NS3_ENV_POLICY_RTT_TARGET_H

#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ns3::env
{

/// r = gain (max(RTT / base - margin, 0) sqrt(rate) - target) (Tessler et al. 2022); above 0 the flow sends too much.
class RttTarget
{
  public:
    /// \param json "margin", "target", "gain", and "base_ns" where RTTs are not given in the path's base RTTs
    explicit RttTarget(JsonReader& json)
        : m_baseNs(json.Has("base_ns") ? std::optional(json.Number("base_ns", 1, 1e12))
                                       : std::nullopt),
          m_margin(json.Number("margin", 0, 1e4)),
          m_target(json.Number("target", 0, 1e4)),
          m_gain(json.Number("gain", 1e-6, 1e6))
    {
    }

    /// Whether the RTT is in nanoseconds; else it is in base RTTs of the path.
    bool ReadsNanoseconds() const { return m_baseNs.has_value(); }

    /// \param rtt as of ReadsNanoseconds() \param rate share of the sender's link
    double operator()(double rtt, double rate) const
    {
        const double excess = std::max(rtt / m_baseNs.value_or(1.0) - m_margin, 0.0);
        return m_gain * (excess * std::sqrt(rate) - m_target);
    }

  private:
    std::optional<double> m_baseNs;
    double m_margin;
    double m_target;
    double m_gain;
};

} // namespace ns3::env

#endif // NS3_ENV_POLICY_RTT_TARGET_H
