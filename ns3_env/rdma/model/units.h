// SPDX-License-Identifier: GPL-2.0-or-later
// How long does a frame take? Picosecond time and the two serialisation rules.
#ifndef RDMA_UNITS_H
#define RDMA_UNITS_H

#include <cmath>
#include <cstdint>

namespace ns3::rdma
{

/// Simulated time in picoseconds: the raw tick of ns3::Time at resolution PS.
using Picos = int64_t;

inline constexpr Picos PS_PER_NS = 1000;
inline constexpr Picos PS_PER_SECOND = 1'000'000'000'000;

/// How a serialisation or pacing time becomes ticks.
enum class Rounding : uint8_t
{
    Exact,       ///< nearest picosecond
    TruncateNs,  ///< whole nanoseconds, cut off (REFERENCE.md, "Time and units")
};

/// Time to put `bytes` on a link of `rateBps`.
inline Picos
SerialisationTime(uint64_t bytes, double rateBps, Rounding rounding)
{
    const double bits = static_cast<double>(bytes) * 8.0;
    if (rounding == Rounding::TruncateNs)
    {
        return static_cast<Picos>(bits * 1e9 / rateBps) * PS_PER_NS;
    }
    return static_cast<Picos>(std::llround(bits * 1e12 / rateBps));
}

/// Whole nanoseconds of a time, cut off.
inline int64_t
ToNanos(Picos t)
{
    return t / PS_PER_NS;
}

} // namespace ns3::rdma

#endif // RDMA_UNITS_H
