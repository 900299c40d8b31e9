// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of captures: headers byte by byte, checksums, and which frames a file has.
#include "test-network.h"

#include "ns3_env/cpp/rdma/link/wire-frame.h"
#include "ns3_env/cpp/rdma/program/pcap.h"
#include "ns3_env/cpp/recorders/crc32.h"
#include "ns3_env/cpp/recorders/internet-checksum.h"
#include "ns3_env/cpp/recorders/pcapng.h"
#include "ns3_env/cpp/test/capture-frames.h"
#include "ns3_env/cpp/test/files.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-pcap");

using env::test::Bytes;
using env::test::ReadFile;
using env::test::TemporaryFolder;

constexpr size_t ETHERNET_BYTES = 14;

/// "0a 1b" for the bytes [begin, begin + count).
std::string
Hex(const Bytes& bytes, size_t begin, size_t count)
{
    std::string text;
    for (size_t i = begin; i < begin + count; ++i)
    {
        std::array<char, 4> cell{};
        std::snprintf(cell.data(), cell.size(), "%02x ", bytes.at(i));
        text += cell.data();
    }
    text.pop_back();
    return text;
}

/// The 5,000th byte on of flow 5, a megabyte from node 3 to node 258, past its first switch.
Packet
DataPacket()
{
    Packet packet{};
    packet.kind = PacketKind::Data;
    packet.ecnCapable = true;
    packet.sequence = 5000;
    packet.payloadBytes = 1000;
    packet.hop = 1;
    return packet;
}

constexpr FlowHeaders FLOW{5, 3, 258, 10'007, 1000, 1'000'000};
constexpr uint32_t FROM = 260; // the link's ends
constexpr uint32_t TO = 261;

TEST("checksums are those of the standards")
{
    const Bytes example{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}; // RFC 1071, section 3
    EXPECT_EQ(InternetChecksum(example), 0xffff - 0xddf2, "RFC 1071's example");
    const Bytes digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
    EXPECT_EQ(Crc32(digits), 0xcbf43926, "CRC-32's check value");
    const Bytes frame = RoceFrame(DataPacket(), FLOW, FROM, TO);
    const Bytes header(frame.begin() + ETHERNET_BYTES, frame.begin() + ETHERNET_BYTES + 20);
    EXPECT_EQ(InternetChecksum(header), 0, "a header with its checksum sums to ones");
}

TEST("a data packet has the headers of RoCEv2")
{
    const auto same =
        [&](const Bytes& frame, size_t begin, const std::string& hex, const std::string& what)
    { EXPECT_EQ(Hex(frame, begin, (hex.size() + 1) / 3), hex, what); };

    const Bytes frame = RoceFrame(DataPacket(), FLOW, FROM, TO);
    ASSERT_EQ(frame.size(), 58 + 1000, "headers and payload");
    same(frame, 0, "02 00 00 00 01 05 02 00 00 00 01 04 08 00", "Ethernet: to, from, IPv4");
    same(frame, 14, "45 6a 04 14 00 00 40 00 3f 11", "IPv4: DSCP 26, ECT(0), 1044 B, 63 hops left");
    same(frame, 26, "0b 00 03 01 0b 01 02 01", "IPv4: 11.0.3.1 to 11.1.2.1");
    same(frame, 34, "27 17 12 b7 04 00 00 00", "UDP: 10007 to 4791, 1024 B, no checksum");
    same(frame, 42, "01 40 ff ff 00 00 00 07 80 00 00 05", "BTH: SEND Middle, QP 7, PSN 5");
    same(frame, 1054, "f3 f0 c1 b6", "ICRC, as zlib has it");
}

TEST("opcodes, PSNs, ECN bits and padding follow the packet")
{
    Packet p = DataPacket();
    const Bytes usual = RoceFrame(p, FLOW, FROM, TO);
    p.ecnMarked = true;
    ++p.hop;
    const Bytes marked = RoceFrame(p, FLOW, TO, FROM);
    EXPECT_EQ(Hex(marked, 15, 1), "6b", "CE");
    EXPECT_EQ(Hex(marked, 22, 1), "3e", "a hop less to live");
    EXPECT_EQ(Hex(marked, marked.size() - 4, 4),
              Hex(usual, usual.size() - 4, 4),
              "the invariant CRC does not change on the way");

    p = DataPacket();
    p.sequence = 0;
    EXPECT_EQ(Hex(RoceFrame(p, FLOW, FROM, TO), 42, 1), "00", "SEND First");
    p.last = true;
    EXPECT_EQ(Hex(RoceFrame(p, FLOW, FROM, TO), 42, 1), "04", "SEND Only");
    p.sequence = 16'777'217'000; // packet 2^24 + 1
    p.payloadBytes = 997;
    const Bytes last = RoceFrame(p, FLOW, FROM, TO);
    EXPECT_EQ(Hex(last, 42, 2), "02 70", "SEND Last, 3 B of padding");
    EXPECT_EQ(Hex(last, 51, 3), "00 00 01", "PSNs are modulo 2^24");
    EXPECT_EQ(last.size(), 58 + 1000, "padded to words");

    FlowHeaders stream = FLOW;
    stream.reliable = false;
    Packet open = DataPacket();
    open.ecnCapable = false;
    const Bytes alone = RoceFrame(open, stream, FROM, TO);
    EXPECT_EQ(Hex(alone, 15, 1), "68", "a stream is not ECN-capable");
    EXPECT_EQ(Hex(alone, 42, 1), "24", "UC SEND Only");
    EXPECT_EQ(Hex(alone, 50, 4), "00 00 00 05", "asks for no ACK, PSN 5");

    p.kind = PacketKind::Ack;
    p.sequence = 5000; // the next byte expected
    p.ecnMarked = true;
    const Bytes ack = RoceFrame(p, FLOW, FROM, TO);
    EXPECT_EQ(ack.size(), 62, "an ACK has no payload");
    EXPECT_EQ(Hex(ack, 15, 1), "68", "not ECN-capable");
    EXPECT_EQ(Hex(ack, 26, 8), "0b 01 02 01 0b 00 03 01", "the way back");
    EXPECT_EQ(Hex(ack, 42, 12),
              "11 40 ff ff 40 00 00 07 00 00 00 04",
              "Acknowledge, BECN, the last PSN received");
    EXPECT_EQ(Hex(ack, 54, 4), "1f 00 00 00", "AETH: ACK, message incomplete");
    p.kind = PacketKind::Nack;
    p.sequence = 1'000'000;
    const Bytes nak = RoceFrame(p, FLOW, FROM, TO);
    EXPECT_EQ(Hex(nak, 51, 3), "00 03 e8", "a NAK names the PSN expected");
    EXPECT_EQ(Hex(nak, 54, 4), "60 00 00 01", "AETH: PSN error, one message done");
}

TEST("pause and resume are frames of 802.1Qbb")
{
    const Bytes pause = PfcFrame(PacketKind::Pause, FROM);
    const Bytes resume = PfcFrame(PacketKind::Resume, FROM);
    EXPECT_EQ(pause.size(), 60, "the least frame");
    EXPECT_EQ(Hex(pause, 0, 18),
              "01 80 c2 00 00 01 02 00 00 00 01 04 88 08 01 01 00 08",
              "MAC control, PFC, class 3");
    EXPECT_EQ(Hex(pause, 18, 8), "00 00 00 00 00 00 ff ff", "as long as can be");
    EXPECT_EQ(Hex(resume, 16, 10), "00 08 00 00 00 00 00 00 00 00", "no longer");
}

TEST("a capture has the frames that passed each port")
{
    const TemporaryFolder folder;
    Scenario s = Dumbbell(1, 100e9);
    AddFlow(s, 0, 1, 10'000);
    TestNetwork net(std::move(s));
    const auto capture = CaptureFrames(*net, {folder / "x", {}, 50});
    net->Run();
    capture->Close();
    EXPECT_EQ(folder.Files(), 1, "one file");
    const auto frames = env::test::FramesOf(ReadFile(folder / "x.pcapng"));
    for (const char* name : {"h0-p0", "h1-p0", "s2-p0", "s2-p1", "s3-p0", "s3-p1"})
    {
        const auto passed = frames.At(name);
        EXPECT_EQ(passed.size(), 20, name << ": ten packets, ten ACKs");
        EXPECT(std::ranges::all_of(passed, [](const auto& x) { return x.bytes.size() == 50; }),
               name << ": 50 B of each");
    }
    const auto fails = [&](const PcapSpec& spec)
    { return env::test::Refusal([&] { CaptureFrames(*net, spec); }); };
    EXPECT_EQ(fails({folder / "none/x", {}, 50}),
              "'record.pcap': there is no folder '" + (folder / "none") + "'",
              "folder");
    EXPECT_EQ(fails({folder / "y", {{{2, 2}}}, 50}),
              "'record.pcap_ports': there is no port 2 at node 2, whose ports are 0 to 1",
              "port");
    EXPECT_EQ(fails({folder / "y", {{{4, 0}}}, 50}),
              "'record.pcap_ports': there is no node 4; nodes are 0 to 3",
              "node");
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
        const size_t count = (hex.size() + 1) / 3;
        EXPECT_EQ(Hex(bytes, at, count), hex, what);
        at += count;
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
