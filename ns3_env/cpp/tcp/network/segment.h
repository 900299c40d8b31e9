// SPDX-License-Identifier: GPL-2.0-or-later
// Five-tuple and payload length of a packet, from its first bytes.
#ifndef NS3_ENV_TCP_NETWORK_SEGMENT_H
#define NS3_ENV_TCP_NETWORK_SEGMENT_H

#include "ns3/ipv4-header.h"
#include "ns3/packet.h"
#include "ns3_env/cpp/routing/ecmp.h"

#include <array>
#include <cstdint>

namespace ns3::env::tcp
{

/// IP's numbers of the protocols that are here (RFC 790).
inline constexpr uint8_t TCP_PROTOCOL = 6;
inline constexpr uint8_t UDP_PROTOCOL = 17;
/// Of IP's header without options, and of UDP's.
inline constexpr uint32_t IP_HEADER_BYTES = 20;
inline constexpr uint32_t UDP_HEADER_BYTES = 8;

/// Of the packet of `header`, which was taken off it or is not yet on it.
inline FiveTuple
FiveTupleOf(const Packet& segment, const Ipv4Header& header)
{
    std::array<uint8_t, 4> ports{};
    segment.CopyData(ports.data(), ports.size());
    return {header.GetSource().Get(),
            header.GetDestination().Get(),
            static_cast<uint16_t>(ports[0] << 8 | ports[1]),
            static_cast<uint16_t>(ports[2] << 8 | ports[3])};
}

/// Bytes of payload of the packet of `header`; `segment` begins with its TCP or UDP header.
inline uint32_t
PayloadOf(const Packet& segment, const Ipv4Header& header)
{
    if (header.GetProtocol() == UDP_PROTOCOL)
    {
        return segment.GetSize() - UDP_HEADER_BYTES;
    }
    constexpr uint32_t DATA_OFFSET =
        12; // the byte whose upper half is the header's length in words
    std::array<uint8_t, DATA_OFFSET + 1> start{};
    segment.CopyData(start.data(), start.size());
    return segment.GetSize() - 4 * (start[DATA_OFFSET] >> 4);
}

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_SEGMENT_H
