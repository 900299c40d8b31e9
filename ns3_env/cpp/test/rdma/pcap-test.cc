// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of captures: headers byte by byte, checksums, and the file's blocks.
#include "ns3_env/cpp/rdma/link/wire-frame.h"
#include "ns3_env/cpp/recorders/checksums.h"
#include "ns3_env/cpp/recorders/pcapng.h"
#include "ns3_env/cpp/test/files.h"
#include "ns3_env/cpp/test/suite.h"

#include <cstdio>
#include <functional>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-pcap");

using env::test::Bytes;
using env::test::ReadFile;
using env::test::TemporaryFolder;

/// Checks bytes from `begin` on against "0a 1b".
void
Same(const Bytes& bytes, size_t begin, const std::string& hex, const std::string& what)
{
    std::string text;
    for (size_t i = begin; i < begin + (hex.size() + 1) / 3; ++i)
    {
        char cell[4];
        std::snprintf(cell, sizeof cell, "%s%02x", i == begin ? "" : " ", bytes.at(i));
        text += cell;
    }
    EXPECT_EQ(text, hex, what);
}

constexpr FlowHeaders FLOW{5, 3, 258, 10'007, 1000, 1'000'000};

/// The frame of a packet of flow 5, a megabyte from node 3 to node 258, past its first switch, on the link 260 - 261.
Bytes
FrameOf(
    PacketKind kind,
    uint64_t sequence,
    const std::function<void(Packet&)>& change = [](Packet&) {},
    const FlowHeaders& flow = FLOW)
{
    Packet packet{};
    packet.kind = kind;
    packet.ecnCapable = true;
    packet.sequence = sequence;
    packet.payloadBytes = 1000;
    packet.hop = 1;
    change(packet);
    return RoceFrame(packet, flow, 260, 261);
}

using enum PacketKind;

TEST("checksums are those of the standards")
{
    const Bytes example{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}; // RFC 1071, section 3
    EXPECT_EQ(InternetChecksum(example), 0xffff - 0xddf2, "RFC 1071's example");
    const Bytes digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
    EXPECT_EQ(Crc32(digits), 0xcbf43926, "CRC-32's check value");
    const Bytes frame = FrameOf(Data, 5000);
    const Bytes header(frame.begin() + 14, frame.begin() + 34);
    EXPECT_EQ(InternetChecksum(header), 0, "a header with its checksum sums to ones");
}

TEST("a data packet has the headers of RoCEv2")
{
    const Bytes frame = FrameOf(Data, 5000);
    ASSERT_EQ(frame.size(), 58 + 1000, "headers and payload");
    Same(frame, 0, "02 00 00 00 01 05 02 00 00 00 01 04 08 00", "Ethernet: to, from, IPv4");
    Same(frame, 14, "45 6a 04 14 00 00 40 00 3f 11", "IPv4: DSCP 26, ECT(0), 1044 B, 63 hops left");
    Same(frame, 26, "0b 00 03 01 0b 01 02 01", "IPv4: 11.0.3.1 to 11.1.2.1");
    Same(frame, 34, "27 17 12 b7 04 00 00 00", "UDP: 10007 to 4791, 1024 B, no checksum");
    Same(frame, 42, "01 40 ff ff 00 00 00 07 80 00 00 05", "BTH: SEND Middle, QP 7, PSN 5");
    Same(frame, 1054, "f3 f0 c1 b6", "ICRC, as zlib has it");
}

TEST("opcodes, PSNs, ECN bits and padding follow the packet")
{
    const auto onward = [](Packet& p)
    {
        p.ecnMarked = true;
        ++p.hop;
    };
    const Bytes marked = FrameOf(Data, 5000, onward);
    Same(marked, 15, "6b", "CE");
    Same(marked, 22, "3e", "a hop less to live");
    Same(marked, 1054, "f3 f0 c1 b6", "the invariant CRC does not change on the way");
    Same(FrameOf(Data, 0), 42, "00", "SEND First");
    Same(FrameOf(Data, 0, [](Packet& p) { p.last = true; }), 42, "04", "SEND Only");
    const auto shorter = [](Packet& p)
    {
        p.last = true;
        p.payloadBytes = 997;
    };
    const Bytes last = FrameOf(Data, 16'777'217'000, shorter); // packet 2^24 + 1
    Same(last, 42, "02 70", "SEND Last, 3 B of padding");
    Same(last, 51, "00 00 01", "PSNs are modulo 2^24");
    EXPECT_EQ(last.size(), 58 + 1000, "padded to words");

    FlowHeaders stream = FLOW;
    stream.reliable = false;
    const Bytes alone = FrameOf(Data, 5000, [](Packet& p) { p.ecnCapable = false; }, stream);
    Same(alone, 15, "68", "a stream is not ECN-capable");
    Same(alone, 42, "24", "UC SEND Only");
    Same(alone, 50, "00 00 00 05", "asks for no ACK, PSN 5");

    const Bytes ack = FrameOf(Ack, 5000, [](Packet& p) { p.ecnMarked = true; }); // expects 5000
    EXPECT_EQ(ack.size(), 62, "an ACK has no payload");
    Same(ack, 15, "68", "not ECN-capable");
    Same(ack, 26, "0b 01 02 01 0b 00 03 01", "the way back");
    Same(ack,
         42,
         "11 40 ff ff 40 00 00 07 00 00 00 04",
         "Acknowledge, BECN, the last PSN received");
    Same(ack, 54, "1f 00 00 00", "AETH: ACK, message incomplete");
    const Bytes nak = FrameOf(Nack, 1'000'000);
    Same(nak, 51, "00 03 e8", "a NAK names the PSN expected");
    Same(nak, 54, "60 00 00 01", "AETH: PSN error, one message done");
}

TEST("pause and resume are frames of 802.1Qbb")
{
    const Bytes pause = PfcFrame(Pause, 260);
    EXPECT_EQ(pause.size(), 60, "the least frame");
    Same(pause, 0, "01 80 c2 00 00 01 02 00 00 00 01 04 88 08 01 01 00 08", "MAC control, class 3");
    Same(pause, 18, "00 00 00 00 00 00 ff ff", "as long as can be");
    Same(PfcFrame(Resume, 260), 16, "00 08 00 00 00 00 00 00 00 00", "no longer");
}

/// A capture's blocks, byte by byte.
TEST("a capture has the blocks of the draft")
{
    const TemporaryFolder folder;
    PcapngFile file(folder / "x.pcapng", 6, {1, "rdma-sim"});
    EXPECT_EQ(file.AddInterface("h0-p0", "to s2", 100e9), 0, "first");
    EXPECT_EQ(file.AddInterface("s2-p0", "to h0", 100e9), 1, "second");
    file.Write(1, 0x1'0000'0002, FrameDirection::Sent, Bytes{1, 2, 3, 4, 5, 6, 7});
    file.Close();
    const Bytes bytes = ReadFile(folder / "x.pcapng");
    size_t at = 0;
    const auto next = [&](const std::string& hex, const std::string& what)
    {
        Same(bytes, at, hex, what);
        at += (hex.size() + 1) / 3;
    };
    next("0a 0d 0d 0a 2c 00 00 00 4d 3c 2b 1a 01 00 00 00", "section: 44 B, version 1.0");
    next("ff ff ff ff ff ff ff ff", "of unknown length");
    next("04 00 08 00 72 64 6d 61 2d 73 69 6d 00 00 00 00 2c 00 00 00", "by rdma-sim");
    for (const char* name : {"68 30", "73 32"})
    {
        next("01 00 00 00 44 00 00 00 01 00 00 00 06 00 00 00", "interface: Ethernet, 6 B kept");
        next("02 00 05 00 " + std::string(name) + " 2d 70 30 00 00 00", "its name, padded");
        next("03 00 05 00 74 6f 20", "its description");
        at += 5;
        next("08 00 08 00 00 e8 76 48 17 00 00 00", "10^11 bit/s");
        next("09 00 01 00 09 00 00 00", "nanoseconds");
        next("00 00 00 00 44 00 00 00", "end of options, length");
    }
    next("06 00 00 00 34 00 00 00 01 00 00 00", "packet: 52 B, of the second interface");
    next("01 00 00 00 02 00 00 00 06 00 00 00 07 00 00 00", "time, 6 B of 7");
    next("01 02 03 04 05 06 00 00", "the frame, cut and padded");
    next("02 00 04 00 02 00 00 00 00 00 00 00 34 00 00 00", "outbound");
    EXPECT_EQ(at, bytes.size(), "nothing more");
}

} // namespace

} // namespace ns3::env::rdma::test
