// SPDX-License-Identifier: GPL-2.0-or-later
// Picosecond time, and the two rules for serialisation times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ns3::env
{

/// Simulated time in picoseconds: the raw tick of ns3::Time at resolution PS.
using Picos = int64_t;

inline constexpr Picos NEVER = std::numeric_limits<Picos>::max();

/// Upper bound of times: about three weeks, several of which can still be added up.
inline constexpr double LONGEST_PS = 2e18;

inline constexpr Picos PS_PER_NS = 1000;
inline constexpr Picos PS_PER_SECOND = 1'000'000'000'000;

/// Conversion of a serialisation or pacing time to ticks.
enum class Rounding : uint8_t
{
    Exact, ///< nearest picosecond
    TruncateNs, ///< truncated to whole nanoseconds (docs/sources/published-simulator.md, "Time and units")
};

/// Time of `bytes` at `rateBps` by exact arithmetic, as in base RTTs.
inline Picos
IdealTime(uint64_t bytes, double rateBps, Rounding rounding)
{
    const double bits = static_cast<double>(bytes) * 8.0;
    if (rounding == Rounding::TruncateNs)
    {
        return static_cast<Picos>(std::min(bits * 1e9 / rateBps, LONGEST_PS / PS_PER_NS)) *
               PS_PER_NS;
    }
    return static_cast<Picos>(std::min(bits * 1e12 / rateBps + 0.5, LONGEST_PS));
}

/// Time that a device needs to put `bytes` on a link of `rateBps`, or to pace them.
///
/// The published simulator truncates the binary fraction of a second, which for round decimal figures is just below the
/// whole nanosecond: 1048 B at 1 Gb/s need 8383 ns, not 8384.
inline Picos
SerialisationTime(uint64_t bytes, double rateBps, Rounding rounding)
{
    if (rounding == Rounding::TruncateNs)
    {
        // 64 fractional bits of a second, as in its fixed-point time class, times 1e9, cut off
        const double seconds = static_cast<double>(bytes) * 8.0 / rateBps;
        __extension__ using Wide = unsigned __int128;
        const auto fraction = seconds < 1 ? static_cast<uint64_t>(seconds * 0x1p64)
                                          : static_cast<Wide>(seconds * 0x1p64);
        return static_cast<Picos>((fraction * 1'000'000'000U) >> 64) * PS_PER_NS;
    }
    return IdealTime(bytes, rateBps, rounding);
}

/// Whole bytes that a link carries in a time; multiplied before divided, so that round figures stay exact.
inline double
BdpBytes(Picos rtt, double rateBps)
{
    return std::floor(static_cast<double>(rtt) * rateBps / (8.0 * PS_PER_SECOND));
}

/// Whole nanoseconds of a time, cut off.
inline int64_t
ToNanos(Picos t)
{
    return t / PS_PER_NS;
}

} // namespace ns3::env
