// SPDX-License-Identifier: GPL-2.0-or-later
// Settings of switches: marking, feedback frames, and how ports share a buffer.
#pragma once

#include "units.h"

#include <cstdint>
#include <limits>

namespace ns3::env
{

/// Rule for the buffer of an ingress port beyond its reserve.
enum class PoolSharing : uint8_t
{
    Thresholds, ///< up to a share of the free buffer, then its headroom: a pause reaches the peer in time
    Complete, ///< the whole free buffer: no reserve for a pause that never comes
};

/// The packet that a port sends next: of a switch, and of a host among its own flows.
enum class Scheduling : uint8_t
{
    Fifo,          ///< in the order of arrival; a host's flows in turn
    LeastRemaining ///< of the flow with the fewest bytes left, with buffers that are never full
};

/// Size of a buffer without a limit: more than any run sends.
inline constexpr uint64_t UNBOUNDED_BYTES = 1ULL << 50;

/// Sizes and thresholds of a switch's memory (docs/sources/published-simulator.md, "Switch").
struct SharedBufferConfig
{
    uint64_t bufferBytes{32ULL << 20};
    uint32_t reserveBytes{4096}; ///< of each ingress port
    uint32_t resumeOffsetBytes{3072};
    uint32_t alphaShift{3}; ///< threshold = free >> shift at the rate of the hosts' links
    bool pfc{true};
    PoolSharing sharing{PoolSharing::Thresholds}; ///< set by the network's rules (NetworkRules)
    /// Full frames of headroom beyond 3 * rate * delay: one that the peer is sending when the pause arrives, one that
    /// the pause had to wait for. The published simulator has none, and so can drop packets if fewer bytes than a frame
    /// fit on a link.
    uint32_t headroomFrames{2};
};

/// Watchdog of a port's PFC pauses (docs/sources/reliability.md, "PFC watchdog").
struct PfcWatchdogConfig
{
    Picos detection;   ///< a longer pause, with packets waiting, is a storm
    Picos restoration; ///< without a pause, after which the storm is over
    bool forwards{
        false}; ///< ignores pauses during a storm, instead of dropping the class's packets
};

/// A congestion point at each egress queue (Jiang 2015, sec. 2.2; IEEE 802.1Q clause 32, with its names in brackets).
struct CongestionPointConfig
{
    bool enabled{false};
    double targetBytes{64e3};      ///< q0 of Jiang 2015 (cpQSp; the standard's is 26 kB)
    double weight{2};              ///< w (cpW)
    double sampleBytes{150e3};     ///< of arriving frames from sample to sample (cpSampleBase)
    double sampleJitter{0.15};     ///< each interval is longer or shorter by up to this share
    bool adaptiveSampling{true};   ///< shorter intervals, down to 18.5 kB of 150, as |Fb| grows
    double sampleProbability{0.0}; ///< above 0: each frame with this probability, not by bytes
    bool negativeOnly{true};       ///< a frame only if Fb < 0; otherwise at each sample

    bool operator==(const CongestionPointConfig&) const = default;
};

/// Marking thresholds at one link rate; they scale linearly with a port's rate.
struct EcnConfig
{
    bool enabled{false};
    double kminBytes{100e3};
    double kmaxBytes{400e3};
    double pmax{0.2};
    double atRateBps{25e9};
    /// Maximum Kmax of any port; Kmin shrinks with it. For shallow buffers, whose queues a larger Kmax would never
    /// mark.
    double mostKmaxBytes{std::numeric_limits<double>::infinity()};
};

/// ECN thresholds of one port, in bytes of its own queue.
struct MarkingThresholds
{
    double kminBytes;
    double kmaxBytes;
    double pmax;
};

} // namespace ns3::env
