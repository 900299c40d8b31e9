// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes of a segment on a link, for captures: PPP, IPv4, TCP or UDP, with right checksums.
#include "frame.h"

#include "network.h"

#include "ns3_env/cpp/recorders/checksums.h"

#include <cstddef>
#include <span>

namespace ns3::env::tcp
{

namespace
{

constexpr uint16_t PPP_IPV4 = 0x0021;
constexpr uint8_t IP_VERSION_AND_WORDS = 0x45;
constexpr uint8_t FIRST_TTL = 64;
constexpr uint32_t WORD_BYTES = 4;
// Offsets of header fields (RFC 791, 793, 768).
constexpr size_t IP_CHECKSUM = 10;
constexpr size_t IP_ADDRESSES = 12;
constexpr size_t TCP_CHECKSUM = 16;
constexpr size_t UDP_CHECKSUM = 6;
// Kinds of TCP's options (RFC 7323, RFC 2018).
constexpr uint8_t WINDOW_SCALE = 3;
constexpr uint8_t SACK_PERMITTED = 4;
constexpr uint8_t SACK = 5;

/// Appends numbers, the most significant byte first.
class Writer
{
  public:
    explicit Writer(std::vector<uint8_t>& bytes)
        : m_bytes(bytes)
    {
    }

    void One(uint8_t value) { m_bytes.push_back(value); }

    void Two(uint32_t value)
    {
        One(static_cast<uint8_t>(value >> 8));
        One(static_cast<uint8_t>(value));
    }

    void Four(uint32_t value)
    {
        Two(value >> 16);
        Two(value);
    }

  private:
    std::vector<uint8_t>& m_bytes;
};

void
WriteIp(const Segment& segment, Writer& out)
{
    out.One(IP_VERSION_AND_WORDS);
    out.One(segment.ecn);
    out.Two(segment.ipBytes);
    out.Two(segment.id);
    out.Two(0); // not fragmented, but may be
    out.One(static_cast<uint8_t>(FIRST_TTL - segment.hop));
    out.One(segment.protocol);
    out.Two(0);
    out.Four(segment.channel->tuple.sourceIp);
    out.Four(segment.channel->tuple.destinationIp);
}

void
WriteOptions(const TcpOptions& options, Writer& out)
{
    uint32_t written = 0;
    if (options.windowScale != TcpOptions::NO_SCALE)
    {
        out.One(WINDOW_SCALE);
        out.One(3);
        out.One(options.windowScale);
        written += 3;
    }
    if (options.sackPermitted)
    {
        out.One(SACK_PERMITTED);
        out.One(2);
        written += 2;
    }
    if (options.blocks > 0)
    {
        const auto bytes = static_cast<uint8_t>(2 + 8 * options.blocks);
        out.One(SACK);
        out.One(bytes);
        written += bytes;
        for (const SackBlock& block : std::span(options.sack).first(options.blocks))
        {
            out.Four(block.first.GetValue());
            out.Four(block.second.GetValue());
        }
    }
    for (; written < options.Bytes(); ++written)
    {
        out.One(0);
    }
}

void
WriteTcp(const Segment& segment, Writer& out)
{
    const uint32_t words = (TCP_HEADER_BYTES + segment.options.Bytes()) / WORD_BYTES;
    out.Two(segment.channel->tuple.sourcePort);
    out.Two(segment.channel->tuple.destinationPort);
    out.Four(segment.sequence.GetValue());
    out.Four(segment.ack.GetValue());
    out.One(static_cast<uint8_t>(words << 4));
    out.One(segment.flags);
    out.Two(segment.window);
    out.Two(0);
    out.Two(0);
    WriteOptions(segment.options, out);
}

void
WriteUdp(const Segment& segment, Writer& out)
{
    out.Two(segment.channel->tuple.sourcePort);
    out.Two(segment.channel->tuple.destinationPort);
    out.Two(UDP_HEADER_BYTES + segment.payload);
    out.Two(0);
}

void
Put(std::span<uint8_t> bytes, size_t at, uint16_t value)
{
    bytes[at] = static_cast<uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<uint8_t>(value);
}

/// Checksum that includes the pseudo header (RFC 793, section 3.1).
uint16_t
TransportChecksum(uint8_t protocol, std::span<const uint8_t> ip, std::span<const uint8_t> segment)
{
    std::vector<uint8_t> all(ip.begin() + IP_ADDRESSES, ip.end());
    all.insert(all.end(),
               {0,
                protocol,
                static_cast<uint8_t>(segment.size() >> 8),
                static_cast<uint8_t>(segment.size())});
    all.insert(all.end(), segment.begin(), segment.end());
    return InternetChecksum(all);
}

} // namespace

void
WriteFrame(const Segment& segment, std::vector<uint8_t>& frame)
{
    frame.clear();
    Writer out(frame);
    const bool datagram = segment.protocol == UDP_PROTOCOL;
    out.Two(PPP_IPV4);
    WriteIp(segment, out);
    if (datagram)
    {
        WriteUdp(segment, out);
    }
    else
    {
        WriteTcp(segment, out);
    }
    frame.resize(segment.FrameBytes());
    const std::span all(frame);
    const auto ip = all.subspan(LINK_HEADER_BYTES, IP_HEADER_BYTES);
    const auto transport = all.subspan(LINK_HEADER_BYTES + IP_HEADER_BYTES);
    const uint16_t sum = TransportChecksum(segment.protocol, ip, transport);
    Put(transport, datagram ? UDP_CHECKSUM : TCP_CHECKSUM, datagram && sum == 0 ? 0xffff : sum);
    Put(ip, IP_CHECKSUM, InternetChecksum(ip));
}

} // namespace ns3::env::tcp
