// SPDX-License-Identifier: GPL-2.0-or-later
// Traffic classes of a network: how a port serves each.
#pragma once

#include "switch-config.h"

#include <cstddef>
#include <string>

namespace ns3::env
{

/// Number of PFC priorities (IEEE 802.1Q, 36).
inline constexpr size_t MOST_CLASSES = 8;

/// One class; a network's classes are listed in the order in which they are served.
struct TrafficClass
{
    std::string name;
    double weight{0}; ///< 0: strict priority over later classes; else its share among weights
    bool pfc{true};   ///< has pauses and headroom; without, packets above its threshold are lost
    EcnConfig ecn;
    CongestionPointConfig congestionPoints;

    bool IsStrict() const { return weight == 0; }
};

} // namespace ns3::env
