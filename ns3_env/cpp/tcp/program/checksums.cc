// SPDX-License-Identifier: GPL-2.0-or-later
// Fills in a frame's IP, TCP and UDP checksums, which ns-3 leaves 0.
#include "checksums.h"

#include "ns3_env/cpp/recorders/internet-checksum.h"
#include "ns3_env/cpp/tcp/network/queue-factory.h"
#include "ns3_env/cpp/tcp/network/segment.h"

#include <vector>

namespace ns3::env::tcp
{

namespace
{

// Where fields of headers are (RFC 791, 793, 768).
constexpr size_t IP_PROTOCOL = 9;
constexpr size_t IP_CHECKSUM = 10;
constexpr size_t IP_ADDRESSES = 12;
constexpr size_t TCP_CHECKSUM = 16;
constexpr size_t UDP_CHECKSUM = 6;

void
Put(std::span<uint8_t> bytes, size_t at, uint16_t value)
{
    bytes[at] = static_cast<uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<uint8_t>(value);
}

/// Over the pseudo header, too (RFC 793, section 3.1).
uint16_t
TransportChecksum(std::span<const uint8_t> ip, std::span<const uint8_t> segment)
{
    std::vector<uint8_t> all(ip.begin() + IP_ADDRESSES, ip.end());
    all.insert(all.end(),
               {0,
                ip[IP_PROTOCOL],
                static_cast<uint8_t>(segment.size() >> 8),
                static_cast<uint8_t>(segment.size())});
    all.insert(all.end(), segment.begin(), segment.end());
    return InternetChecksum(all);
}

} // namespace

void
FillChecksums(std::span<uint8_t> frame)
{
    const auto ip = frame.subspan(LINK_HEADER_BYTES, IP_HEADER_BYTES);
    const auto segment = frame.subspan(LINK_HEADER_BYTES + IP_HEADER_BYTES);
    const bool datagram = ip[IP_PROTOCOL] == UDP_PROTOCOL;
    const uint16_t sum = TransportChecksum(ip, segment);
    Put(segment, datagram ? UDP_CHECKSUM : TCP_CHECKSUM, datagram && sum == 0 ? 0xffff : sum);
    Put(ip, IP_CHECKSUM, InternetChecksum(ip));
}

} // namespace ns3::env::tcp
