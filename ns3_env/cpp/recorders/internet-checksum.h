// SPDX-License-Identifier: GPL-2.0-or-later
// The Internet checksum of IPv4, UDP and TCP headers (RFC 1071).
#pragma once

#include <cstdint>
#include <span>

namespace ns3::env
{

/// Checksum of bytes with a checksum field of 0.
uint16_t InternetChecksum(std::span<const uint8_t> bytes);

} // namespace ns3::env
