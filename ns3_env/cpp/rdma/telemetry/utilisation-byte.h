// SPDX-License-Identifier: GPL-2.0-or-later
// Utilisation of a link in one byte, on a logarithmic scale (PINT, Basat 2020).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ns3::env
{

/// Eight bits for a relative error of 2.5 % (Basat 2020, sec. 4.3: a value's logarithm to the base (1 + epsilon)^2, rounded
/// at random so that the value is right in expectation). 0 encodes 0, and the other values 0.1 % to 280 times the link.
namespace utilisation_byte
{

inline constexpr double EPSILON = 0.025;
inline constexpr double STEP = (1 + EPSILON) * (1 + EPSILON); ///< from one level to the next
inline constexpr double LEAST = 1e-3;                         ///< of level 1
inline constexpr double MOST_LEVEL = 255;

inline double
Decode(uint32_t level)
{
    return level == 0 ? 0.0 : LEAST * std::pow(STEP, std::min<double>(level, MOST_LEVEL) - 1);
}

/// \param draw in [0, 1): of the two levels next to the value it chooses the upper one with the probability that keeps
/// the expectation of Decode().
inline uint32_t
Encode(double utilisation, double draw)
{
    if (!(utilisation >= LEAST))
    {
        return draw * LEAST < utilisation ? 1 : 0;
    }
    const double place = std::log(utilisation / LEAST) / std::log(STEP);
    const double below = std::min(std::floor(place), MOST_LEVEL - 1);
    const double upward = (std::pow(STEP, place - below) - 1) / (STEP - 1);
    return static_cast<uint32_t>(std::min(below + 1 + (draw < upward ? 1 : 0), MOST_LEVEL));
}

} // namespace utilisation_byte

} // namespace ns3::env
