// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds on a scenario's values, which Python reads as well (ns3_env/config/bounds.py).
#pragma once

#include <cstdint>

namespace ns3::env::bounds
{

inline constexpr int64_t TIME_NS =
    4'000'000'000'000; ///< an hour and more: no overflow in picoseconds
inline constexpr int64_t DELAY_NS = 10'000'000'000;
inline constexpr double RATE_BPS = 8e12; ///< at most a picosecond per byte
inline constexpr double LEAST_RATE_BPS = 1;
/// Minimum rate of a link: with the longest path, largest frame and delay, times still fit in picoseconds.
inline constexpr double LEAST_LINK_RATE_BPS = 1e4;
inline constexpr int64_t FLOW_BYTES = 1'000'000'000'000'000;
inline constexpr uint32_t PAYLOAD_BYTES = 65'000;
inline constexpr uint64_t BUFFER_BYTES = 1'000'000'000'000;
inline constexpr uint32_t RESERVE_BYTES = 1'000'000'000;
inline constexpr uint32_t HEADROOM_FRAMES = 1000;
inline constexpr uint32_t TELEMETRY_BYTES = 1000; ///< of a packet
inline constexpr uint32_t ALPHA_SHIFT = 30;
inline constexpr double WEIGHT = 1e6; ///< of a congestion point's change
inline constexpr double RTTS = 1e6;
inline constexpr double BDPS = 1e6;
inline constexpr uint32_t PACKETS = 1'000'000;
inline constexpr uint32_t PLAYS = 1'000'000; ///< of the same flows
inline constexpr uint32_t SOCKET_BUFFER_BYTES =
    1U << 30; ///< TCP's window has no more bits, with the widest scale
inline constexpr uint32_t LEAST_SOCKET_BUFFER_SEGMENTS = 64;
inline constexpr uint32_t NODES = 250'000; ///< hosts with several cards, and switches
inline constexpr uint32_t LINKS = 1'000'000;
inline constexpr uint32_t LINK_STEPS = 1'000'000; ///< of a link that changes over time
inline constexpr uint32_t THREADS = 1024;
inline constexpr uint32_t CONTROLLERS = 10'000;
inline constexpr uint32_t FLOWS = 10'000'000; ///< in all; a user's list has fewer
inline constexpr uint32_t STREAMS = 1'000'000;

} // namespace ns3::env::bounds
