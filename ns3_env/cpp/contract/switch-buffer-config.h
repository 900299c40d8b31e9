// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes and thresholds of a switch's shared memory.
#ifndef NS3_ENV_CONTRACT_SWITCH_BUFFER_CONFIG_H
#define NS3_ENV_CONTRACT_SWITCH_BUFFER_CONFIG_H

#include <cstdint>

namespace ns3::env
{

/// What an ingress port may take beyond its reserve.
enum class PoolSharing : uint8_t
{
    Thresholds, ///< up to a share of what is free, then its headroom: a pause reaches the peer in time
    Complete, ///< whatever is free: nothing is kept for a pause that never comes
};

/// Sizes and thresholds of a switch's memory (docs/sources/published-simulator.md, "Switch").
struct SharedBufferConfig
{
    uint64_t bufferBytes{32ULL << 20};
    uint32_t reserveBytes{4096}; ///< of each ingress port
    uint32_t resumeOffsetBytes{3072};
    uint32_t alphaShift{3}; ///< threshold = free >> shift at the rate of the hosts' links
    bool pfc{true};
    PoolSharing sharing{PoolSharing::Thresholds}; ///< given by the network's rules (NetworkRules)
    /// Full frames of headroom beyond 3 * rate * delay: one that the peer has begun when the pause
    /// arrives, one that the pause had to wait for. The published simulator has none, and so can drop
    /// packets where a link holds less than a frame.
    uint32_t headroomFrames{2};
};

} // namespace ns3::env

#endif // NS3_ENV_CONTRACT_SWITCH_BUFFER_CONFIG_H
