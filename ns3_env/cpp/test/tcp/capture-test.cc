// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP's captures: files taken apart byte by byte, as their format specifies.
#include "episodes.h"

#include "ns3_env/cpp/recorders/checksums.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"
#include "ns3_env/cpp/tcp/program/pcap.h"
#include "ns3_env/cpp/test/capture-frames.h"

#include <algorithm>
#include <map>
#include <span>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-capture");

constexpr uint64_t FLOW_BYTES = 100'001;
constexpr uint32_t PAYLOAD = 1448;
constexpr size_t PPP = 2;
constexpr size_t IP = 20;

/// A number of `count` bytes, the most significant one first.
uint64_t
Big(std::span<const uint8_t> bytes, size_t at, size_t count)
{
    uint64_t value = 0;
    for (const uint8_t byte : bytes.subspan(at, count))
    {
        value = value << 8 | byte;
    }
    return value;
}

/// A run of a flow from host 0 to host 1, with a stream back, captured.
struct CapturedRun
{
    CapturedRun(const std::optional<std::vector<std::pair<uint32_t, uint32_t>>>& ports,
                uint32_t snapLength,
                double lossProbability = 0,
                bool captured = true)
    {
        Scenario s = Dumbbell(1, 10e9);
        s.lossProbability = lossProbability;
        s.payloadBytes = PAYLOAD;
        AddFlow(s, 0, 1, FLOW_BYTES);
        AddStream(s, 1, 0, 1e9);
        TestEpisode episode(s, ShortTimeouts(2 * MS, MS), {"cubic", {}});
        UdpStreams streams(s, episode.Net());
        streams.Schedule();
        const TemporaryFolder folder;
        std::unique_ptr<Capture> capture;
        if (captured)
        {
            capture = CaptureFrames(episode.Net(), {folder / "x", ports, snapLength});
        }
        episode.Run();
        if (capture)
        {
            capture->Close();
        }
        frames = FramesOf(ReadFile(folder / "x.pcapng"));
        files = folder.Files();
        end = episode.Flow(0).EndTime();
        for (const Egress& egress : episode.Net().Egresses())
        {
            sent += egress.egress->TxPackets();
        }
        for (const LossRecord& record : episode.Net().LossRecords())
        {
            lost += record.lost.packets;
        }
    }

    CapturedFrames frames;
    size_t files{0};
    Picos end{0};
    uint64_t sent{0};
    uint64_t lost{0};
};

TEST("a port has PPP's frames with whole headers, in the order of time")
{
    /// 0 if the checksum is right.
    const auto transportSum = [](const Bytes& frame) -> uint16_t
    {
        Bytes all(frame.begin() + PPP + 12, frame.end()); // addresses, then the segment
        const auto length = static_cast<uint16_t>(frame.size() - PPP - IP);
        const auto high = static_cast<uint8_t>(length >> 8);
        const Bytes pseudo{0, frame[PPP + 9], high, static_cast<uint8_t>(length)};
        all.insert(all.begin() + 8, pseudo.begin(), pseudo.end());
        return InternetChecksum(all);
    };

    const CapturedRun run({}, PcapSpec::LONGEST_FRAME);
    EXPECT_EQ(run.frames.linkTypes.at(0), 9, "PPP");
    std::map<uint32_t, uint64_t> payload; // of TCP's, by sequence number
    uint64_t last = 0;
    uint64_t datagrams = 0;
    for (const CapturedFrame& captured : run.frames.At("h0-p0"))
    {
        const Bytes& frame = captured.bytes;
        EXPECT_GE(captured.timeNs, last, "time goes on");
        last = captured.timeNs;
        ASSERT_EQ(frame.size(), captured.length, "whole");
        EXPECT_EQ(Big(frame, 0, PPP), 0x0021, "IPv4 in PPP");
        EXPECT_EQ(Big(frame, PPP + 2, 2), frame.size() - PPP, "IP's length");
        const std::span<const uint8_t> ip(frame.data() + PPP, IP);
        EXPECT_EQ(InternetChecksum(ip), 0, "IP's checksum");
        EXPECT_EQ(transportSum(frame), 0, "TCP's and UDP's checksum");
        const bool forth = Big(frame, PPP + 12, 4) == NodeAddress(0);
        const uint64_t ports = Big(frame, PPP + IP, 4);
        if (frame[PPP + 9] == 17)
        {
            EXPECT_EQ(ports, 40000U << 16 | 9, "UDP's ports");
            EXPECT_EQ(Big(frame, PPP + IP + 4, 2), 8 + PAYLOAD, "UDP's length");
            ++datagrams;
            continue;
        }
        EXPECT_EQ(ports, forth ? 10000U << 16 | 100 : 100U << 16 | 10000, "TCP");
        const size_t header = PPP + IP + 4 * (frame[PPP + IP + 12] >> 4);
        if (forth && frame.size() > header)
        {
            const auto sequence = static_cast<uint32_t>(Big(frame, PPP + IP + 4, 4));
            payload[sequence] = frame.size() - header;
        }
    }
    uint64_t bytes = 0;
    for (const auto& [sequence, count] : payload)
    {
        EXPECT_EQ(sequence, bytes + 1, "no gap after the SYN");
        bytes += count;
    }
    EXPECT_EQ(bytes, FLOW_BYTES, "the whole message");
    EXPECT_GT(datagrams, 5, "the stream");
    EXPECT_EQ(last, static_cast<uint64_t>(run.end / NS), "the last ACK");
}

TEST("each frame is at the ports that it passes")
{
    const CapturedRun run({}, 60, 0.05);
    const std::vector<std::string> all{"h0-p0", "h1-p0", "s2-p0", "s2-p1", "s3-p0", "s3-p1"};
    EXPECT(run.frames.interfaces == all, "all ports");
    EXPECT(std::ranges::is_sorted(run.frames.frames, {}, &CapturedFrame::timeNs), "by time");
    uint64_t sent = 0;
    for (const CapturedFrame& frame : run.frames.frames)
    {
        EXPECT_EQ(frame.bytes.size(), std::min(frame.length, 60U), "cut");
        sent += frame.sent ? 1 : 0;
    }
    EXPECT_EQ(sent, run.sent, "all that was sent");
    EXPECT_GT(run.lost, 0, "some was lost");
    // A frame on a link at the end is only in its sender's capture, like a lost one.
    EXPECT_NEAR(run.frames.frames.size(), 2 * run.sent - run.lost - 5.5, 6, "received");
}

TEST("only chosen ports are captured, and a capture changes nothing")
{
    const CapturedRun some({{{3, 0}, {0, 0}}}, 100);
    EXPECT_EQ(some.files, 1, "one file");
    EXPECT(some.frames.interfaces == (std::vector<std::string>{"h0-p0", "s3-p0"}), "two ports");
    EXPECT(!some.frames.At("h0-p0").empty() && !some.frames.At("s3-p0").empty(), "of both");
    const CapturedRun none({}, 100, 0, false);
    EXPECT_EQ(none.files, 0, "none");
    EXPECT_EQ(none.end, some.end, "the same run");
    EXPECT_EQ(Refusal([] { CapturedRun({{{3, 7}}}, 100); }),
              "'record.pcap_ports': there is no port 7 at node 3, whose ports are 0 to 1",
              "no such port");
}

} // namespace

} // namespace ns3::env::tcp::test
