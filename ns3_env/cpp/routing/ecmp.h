// SPDX-License-Identifier: GPL-2.0-or-later
// Hash of a flow's five-tuple, by which a switch chooses among equal paths (ECMP).
#pragma once

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
uint32_t NodeAddress(uint32_t nodeId);

/// MurmurHash3 x86 32 (A. Appleby, public domain) over {sip, dip, sport | dport << 16}; the seed is the node's id.
uint32_t EcmpHash(const FiveTuple& tuple, uint32_t seed);

} // namespace ns3::env
