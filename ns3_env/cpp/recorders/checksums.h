// SPDX-License-Identifier: GPL-2.0-or-later
// Checksums of frames: CRC-32 of Ethernet, and the Internet checksum of IPv4, UDP and TCP headers.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace ns3::env
{

/// The Internet checksum (RFC 1071) of bytes with a checksum field of 0.
inline uint16_t
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

inline constexpr uint32_t POLYNOMIAL = 0xedb88320; // that of the standard, its lowest power first
/// The remainder of each byte.
constexpr std::array<uint32_t, 256>
Remainders()
{
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < table.size(); ++byte)
    {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
        {
            rest = rest >> 1 ^ (rest % 2 == 1 ? POLYNOMIAL : 0);
        }
        table[byte] = rest;
    }
    return table;
}

/// The checksum of Ethernet frames, CRC-32 (IEEE 802.3, 3.2.9), which zlib computes too.
inline uint32_t
Crc32(std::span<const uint8_t> bytes)
{
    static constexpr auto TABLE = Remainders();
    uint32_t rest = UINT32_MAX;
    for (const uint8_t byte : bytes)
    {
        rest = rest >> 8 ^ TABLE[(rest ^ byte) % TABLE.size()];
    }
    return ~rest;
}

} // namespace ns3::env
