// SPDX-License-Identifier: GPL-2.0-or-later
// Fills in a frame's IP, TCP and UDP checksums, which ns-3 leaves 0.
#ifndef NS3_ENV_TCP_PROGRAM_CHECKSUMS_H
#define NS3_ENV_TCP_PROGRAM_CHECKSUMS_H

#include <cstdint>
#include <span>

namespace ns3::env::tcp
{

/// Writes those of IP and of TCP or UDP into `frame`, whole and with PPP's header, where they are 0.
void FillChecksums(std::span<uint8_t> frame);

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_PROGRAM_CHECKSUMS_H
