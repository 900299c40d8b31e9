// SPDX-License-Identifier: GPL-2.0-or-later
// A segment or a datagram on a TCP network, as a plain struct from a pool.
#include "segment.h"

namespace ns3::env::tcp
{

namespace
{
constexpr size_t SEGMENTS_PER_BLOCK = 256;
constexpr uint32_t WORD_BYTES = 4;
constexpr uint32_t WINDOW_SCALE_BYTES = 3;
constexpr uint32_t SACK_PERMITTED_BYTES = 2;
constexpr uint32_t SACK_BYTES = 2;
constexpr uint32_t BLOCK_BYTES = 8;
} // namespace

uint32_t
TcpOptions::Bytes() const
{
    const uint32_t bytes = (windowScale != NO_SCALE ? WINDOW_SCALE_BYTES : 0) +
                           (sackPermitted ? SACK_PERMITTED_BYTES : 0) +
                           (blocks > 0 ? SACK_BYTES + blocks * BLOCK_BYTES : 0);
    return (bytes + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
}

void
SegmentPool::Grow()
{
    m_blocks.push_back(std::make_unique<Segment[]>(SEGMENTS_PER_BLOCK));
    for (size_t i = 0; i < SEGMENTS_PER_BLOCK; ++i)
    {
        Give(&m_blocks.back()[i]);
    }
}

} // namespace ns3::env::tcp
