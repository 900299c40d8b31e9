// SPDX-License-Identifier: GPL-2.0-or-later
// Traffic classes of a network: what a port does with each.
#ifndef NS3_ENV_CONTRACT_TRAFFIC_CLASS_H
#define NS3_ENV_CONTRACT_TRAFFIC_CLASS_H

#include "switch-config.h"

#include <cstddef>
#include <string>

namespace ns3::env
{

/// Number of PFC priorities (IEEE 802.1Q, 36).
inline constexpr size_t MOST_CLASSES = 8;

/// One class; those of a network stand in the order in which they are served.
struct TrafficClass
{
    std::string name;
    double weight{0}; ///< 0: served before all that come later; else its share beside other weights
    bool pfc{true};   ///< its own pauses and headroom; without, what exceeds its threshold is lost
    EcnConfig ecn;
    CongestionPointConfig congestionPoints;

    bool IsStrict() const { return weight == 0; }
};

} // namespace ns3::env

#endif // NS3_ENV_CONTRACT_TRAFFIC_CLASS_H
