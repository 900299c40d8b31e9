// SPDX-License-Identifier: GPL-2.0-or-later
// Hash of a flow's five-tuple, by which a switch chooses among equal paths (ECMP).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ns3::env
{

/// Input of a switch's hash: one direction of a flow.
struct FiveTuple
{
    uint32_t sourceIp;
    uint32_t destinationIp;
    uint16_t sourcePort;
    uint16_t destinationPort;

    /// The same flow's ACKs.
    FiveTuple Reversed() const { return {destinationIp, sourceIp, destinationPort, sourcePort}; }
};

/// Address of a node (docs/sources/published-simulator.md, "Switch"): 11.0.0.1 + 65536 * (id / 256) + 256 * (id % 256).
inline uint32_t
NodeAddress(uint32_t nodeId)
{
    return 0x0b000001U + ((nodeId / 256) << 16) + ((nodeId % 256) << 8);
}

/// MurmurHash3 x86 32 (A. Appleby, public domain) over {sip, dip, sport | dport << 16}; the seed is the node's id.
inline uint32_t
EcmpHash(const FiveTuple& tuple, uint32_t seed)
{
    const std::array<uint32_t, 3> words{tuple.sourceIp,
                                        tuple.destinationIp,
                                        tuple.sourcePort |
                                            (static_cast<uint32_t>(tuple.destinationPort) << 16)};
    uint32_t h = seed;
    for (uint32_t k : words)
    {
        k *= 0xcc9e2d51U;
        k = std::rotl(k, 15);
        k *= 0x1b873593U;
        h ^= k;
        h = std::rotl(h, 13);
        h = h * 5 + 0xe6546b64U;
    }
    h ^= static_cast<uint32_t>(sizeof(words));
    h ^= h >> 16;
    h *= 0x85ebca6bU;
    h ^= h >> 13;
    h *= 0xc2b2ae35U;
    h ^= h >> 16;
    return h;
}

} // namespace ns3::env
