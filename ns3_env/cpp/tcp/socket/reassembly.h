// SPDX-License-Identifier: GPL-2.0-or-later
// Data that a receiver cannot deliver yet, and the SACK blocks that it reports, stored as in ns-3.
#pragma once

#include "ns3_env/cpp/tcp/network/segment.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::env::tcp
{

/// The receive buffer of one connection (RFC 2018), whose application reads data in order at once.
class Reassembly
{
  public:
    explicit Reassembly(uint32_t mostBytes)
        : m_mostBytes(mostBytes)
    {
    }

    /// Adds the payload from `first` on and moves `next`, the first missing byte, behind the data in order.
    /// \returns whether any of it was new
    bool Add(SequenceNumber32 first, uint32_t bytes, SequenceNumber32& next);

    /// Reports whether any bytes wait for missing ones.
    bool HasGap() const { return !m_waiting.empty(); }
    uint32_t MostBytes() const { return m_mostBytes; }
    /// The latest first, TcpOptions::MOST_BLOCKS at most.
    const std::vector<SackBlock>& Blocks() const { return m_blocks; }

  private:
    void Report(SackBlock block);
    void ForgetBlocksUpTo(SequenceNumber32 next)
    {
        std::erase_if(m_blocks, [&](const SackBlock& block) { return block.second <= next; });
    }

    uint32_t m_mostBytes;
    std::map<SequenceNumber32, uint32_t> m_waiting; ///< byte counts by first byte, as they arrived
    std::vector<SackBlock> m_blocks;
};

} // namespace ns3::env::tcp
