// SPDX-License-Identifier: GPL-2.0-or-later
// The checksum of Ethernet frames, CRC-32 (IEEE 802.3, 3.2.9), which zlib computes too.
#pragma once

#include <cstdint>
#include <span>

namespace ns3::env
{

uint32_t Crc32(std::span<const uint8_t> bytes);

} // namespace ns3::env
