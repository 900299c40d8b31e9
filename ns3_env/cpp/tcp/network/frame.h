// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes of a segment on a link, for captures: PPP, IPv4, TCP or UDP, with right checksums.
#pragma once

#include "segment.h"

#include <cstdint>
#include <vector>

namespace ns3::env::tcp
{

/// Writes the frame as it is on the link before its hop, into `frame`, replacing its content; the payload is zeros.
void WriteFrame(const Segment& segment, std::vector<uint8_t>& frame);

} // namespace ns3::env::tcp
