// SPDX-License-Identifier: GPL-2.0-or-later
// A segment or a datagram on a TCP network, as a plain struct from a pool.
#pragma once

#include "ns3/sequence-number.h"
#include "ns3_env/cpp/events/event-loop.h"

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::env::tcp
{

struct Channel;

/// IP's numbers of the protocols that are here (RFC 790).
inline constexpr uint8_t TCP_PROTOCOL = 6;
inline constexpr uint8_t UDP_PROTOCOL = 17;
/// Bytes of IP's header without options, of TCP's and of UDP's.
inline constexpr uint32_t IP_HEADER_BYTES = 20;
inline constexpr uint32_t TCP_HEADER_BYTES = 20;
inline constexpr uint32_t UDP_HEADER_BYTES = 8;
/// IP and TCP headers without options.
inline constexpr uint32_t HEADER_BYTES = IP_HEADER_BYTES + TCP_HEADER_BYTES;
/// Bytes that the link adds: PPP's protocol field.
inline constexpr uint32_t LINK_HEADER_BYTES = 2;
/// Maximum length of TCP's options.
inline constexpr uint32_t MAX_OPTION_BYTES = 40;

/// Bits of TCP's header (RFC 793, RFC 3168).
namespace flag
{
inline constexpr uint8_t SYN = 2;
inline constexpr uint8_t RST = 4;
inline constexpr uint8_t ACK = 16;
inline constexpr uint8_t ECE = 64;
inline constexpr uint8_t CWR = 128;
} // namespace flag

/// IP's ECN field (RFC 3168).
inline constexpr uint8_t NOT_ECT = 0;
inline constexpr uint8_t CONGESTION_EXPERIENCED = 3;

/// Range from a first sequence number to one behind the last.
using SackBlock = std::pair<SequenceNumber32, SequenceNumber32>;

/// Options of a TCP header.
struct TcpOptions
{
    static constexpr uint32_t WORD_BYTES = 4;
    static constexpr uint32_t WINDOW_SCALE_BYTES = 3;
    static constexpr uint32_t SACK_PERMITTED_BYTES = 2;
    static constexpr uint32_t SACK_BYTES = 2;
    static constexpr uint32_t BLOCK_BYTES = 8;

    static constexpr size_t MOST_BLOCKS = 4;
    static constexpr uint8_t NO_SCALE = 0xff;

    uint8_t windowScale{NO_SCALE}; ///< a SYN's
    bool sackPermitted{false};     ///< a SYN's
    uint8_t blocks{0};             ///< of selective acknowledgement: used entries of `sack`
    std::array<SackBlock, MOST_BLOCKS> sack;

    /// Bytes on the wire, with the padding.
    uint32_t Bytes() const
    {
        const uint32_t bytes = (windowScale != NO_SCALE ? WINDOW_SCALE_BYTES : 0) +
                               (sackPermitted ? SACK_PERMITTED_BYTES : 0) +
                               (blocks > 0 ? SACK_BYTES + blocks * BLOCK_BYTES : 0);
        return (bytes + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
    }
};

/// A segment of TCP or a datagram of UDP with its IP header; only the length of the payload is stored.
struct Segment
{
    Channel* channel{nullptr}; ///< its path
    Segment* next{nullptr};    ///< in the pool, in a queue or on a link
    Moment arrival;            ///< at the end of its present link
    uint32_t hop{0};           ///< links that are behind it
    uint32_t ipBytes{0};       ///< with its headers, without the link's
    uint32_t payload{0};       ///< bytes
    uint16_t id{0};            ///< IP's identification
    uint8_t protocol{TCP_PROTOCOL};
    uint8_t ecn{NOT_ECT};

    // --- TCP's header
    uint8_t flags{0};
    uint16_t window{0xffff}; ///< as written, not scaled back
    SequenceNumber32 sequence{0};
    SequenceNumber32 ack{0};
    TcpOptions options;

    uint32_t FrameBytes() const { return ipBytes + LINK_HEADER_BYTES; }
};

/// Segments that are reused; all are destroyed with the pool.
class SegmentPool
{
  public:
    /// Returns a blank segment.
    Segment* Take()
    {
        if (m_free == nullptr)
        {
            Grow();
        }
        Segment* segment = m_free;
        m_free = segment->next;
        *segment = Segment{};
        return segment;
    }

    void Give(Segment* segment)
    {
        segment->next = m_free;
        m_free = segment;
    }

  private:
    static constexpr size_t SEGMENTS_PER_BLOCK = 256;

    void Grow()
    {
        m_blocks.push_back(std::make_unique<Segment[]>(SEGMENTS_PER_BLOCK));
        for (size_t i = 0; i < SEGMENTS_PER_BLOCK; ++i)
        {
            Give(&m_blocks.back()[i]);
        }
    }

    std::vector<std::unique_ptr<Segment[]>> m_blocks;
    Segment* m_free{nullptr};
};

} // namespace ns3::env::tcp
