// SPDX-License-Identifier: GPL-2.0-or-later
// The checksum of Ethernet frames, CRC-32 (IEEE 802.3, 3.2.9), which zlib computes too.
#include "crc32.h"

#include <array>

namespace ns3::env
{

namespace
{

constexpr uint32_t POLYNOMIAL = 0xedb88320; // that of the standard, its lowest power first

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

} // namespace

uint32_t
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
