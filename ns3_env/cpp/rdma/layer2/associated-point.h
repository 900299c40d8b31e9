// SPDX-License-Identifier: GPL-2.0-or-later
// Only the congestion point that last slowed a flow may speed it up.
#pragma once

#include "ns3_env/cpp/contract/switch-config.h"

#include <cstdint>
#include <optional>

namespace ns3::env::rdma
{

/// The congestion point that a reaction point belongs to (Jiang 2015, sec. 2.2: BCN and SMCC identify it).
///
/// Any queue on the path may slow a flow down, and is the one that it belongs to from then on. Only that one
/// may speed it up: a queue that is short because another link limits the flow does not count.
class AssociatedPoint
{
  public:
    /// Reports whether a flow obeys this point's wish to slow down (`faster` false) or to go faster.
    bool Obeys(uint32_t congestionPoint, bool faster)
    {
        if (!faster)
        {
            m_point = congestionPoint;
        }
        return m_point == congestionPoint;
    }
    /// Forgets the point, as the flow is at line rate again.
    void Forget() { m_point.reset(); }

  private:
    std::optional<uint32_t> m_point;
};

/// The congestion points that BCN and SMCC are published with: a sample for each hundred packets (p = 0.01), of
/// either sign.
inline CongestionPointConfig
SamplesOfEitherSign()
{
    return {.enabled = true,
            .sampleBytes = 100e3,
            .adaptiveSampling = false,
            .negativeOnly = false};
}

} // namespace ns3::env::rdma
