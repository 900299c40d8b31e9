// SPDX-License-Identifier: GPL-2.0-or-later
// The Internet checksum of IPv4, UDP and TCP headers (RFC 1071).
#include "internet-checksum.h"

namespace ns3::env
{

uint16_t
InternetChecksum(std::span<const uint8_t> bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        sum += i % 2 == 0 ? static_cast<uint32_t>(bytes[i]) << 8 : bytes[i];
    }
    while (sum >> 16 != 0)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<uint16_t>(~sum);
}

} // namespace ns3::env
