// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP's captures: files taken apart byte by byte, as their format specifies.
#include "episodes.h"

#include "ns3_env/cpp/recorders/internet-checksum.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"
#include "ns3_env/cpp/tcp/program/pcap.h"
#include "ns3_env/cpp/test/capture-frames.h"
#include "ns3_env/cpp/test/files.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-capture");

using env::test::Bytes;
using env::test::CapturedFrame;
using env::test::TemporaryFolder;

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
class CapturedRun
{
  public:
    CapturedRun(const std::optional<std::vector<std::pair<uint32_t, uint32_t>>>& ports,
                uint32_t snapLength,
                double lossProbability = 0,
                bool captured = true)
    {
        Scenario s = Dumbbell(1, 10e9);
        s.lossProbability = lossProbability;
        s.payloadBytes = PAYLOAD;
        AddFlow(s, 0, 1, FLOW_BYTES);
        s.streams.push_back({{1, 1, 0, ENDLESS_BYTES, 0}, 1e9, NEVER});
        TcpSettings settings;
        settings.delayedAckTimeout = PS_PER_MS;
        settings.minRto = 2 * PS_PER_MS;
        TestEpisode episode(s, settings, {"cubic", {}});
        UdpStreams streams(s, episode.Net());
        streams.Schedule();
        std::unique_ptr<Capture> capture;
        if (captured)
        {
            capture = CaptureFrames(episode.Net(), {m_folder / "x", ports, snapLength});
        }
        episode.Run();
        if (capture)
        {
            capture->Close();
        }
        m_end = episode.Flow(0).EndTime();
        for (const Egress& egress : episode.Net().Egresses())
        {
            m_sent += egress.egress->TxPackets();
        }
        for (const LossRecord& record : episode.Net().LossRecords())
        {
            m_lost += record.lost.packets;
        }
    }

    env::test::CapturedFrames Frames() const
    {
        return env::test::FramesOf(env::test::ReadFile(m_folder / "x.pcapng"));
    }
    size_t Files() const { return m_folder.Files(); }
    Picos End() const { return m_end; }
    uint64_t Sent() const { return m_sent; }
    uint64_t Lost() const { return m_lost; }

  private:
    TemporaryFolder m_folder;
    Picos m_end{0};
    uint64_t m_sent{0};
    uint64_t m_lost{0};
};

TEST("a port has PPP's frames with whole headers, in the order of time")
{
    /// 0 if the checksum is right.
    const auto transportSum = [](const Bytes& frame) -> uint16_t
    {
        Bytes all(frame.begin() + PPP + 12, frame.end()); // addresses, then the segment
        const auto length = static_cast<uint16_t>(frame.size() - PPP - IP);
        const Bytes pseudo{0,
                           frame[PPP + 9],
                           static_cast<uint8_t>(length >> 8),
                           static_cast<uint8_t>(length)};
        all.insert(all.begin() + 8, pseudo.begin(), pseudo.end());
        return InternetChecksum(all);
    };

    const CapturedRun run({}, PcapSpec::LONGEST_FRAME);
    const env::test::CapturedFrames capture = run.Frames();
    EXPECT_EQ(capture.linkTypes.at(0), 9, "PPP");
    std::map<uint32_t, uint64_t> payload; // of TCP's, by sequence number
    uint64_t last = 0;
    uint64_t datagrams = 0;
    for (const CapturedFrame& captured : capture.At("h0-p0"))
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
        const size_t header = 4 * (frame[PPP + IP + 12] >> 4);
        if (forth && frame.size() > PPP + IP + header)
        {
            payload[static_cast<uint32_t>(Big(frame, PPP + IP + 4, 4))] =
                frame.size() - PPP - IP - header;
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
    EXPECT_EQ(last, static_cast<uint64_t>(run.End() / PS_PER_NS), "the last ACK");
}

TEST("each frame is at the ports that it passes")
{
    const CapturedRun run({}, 60, 0.05);
    const env::test::CapturedFrames capture = run.Frames();
    const std::vector<std::string> all{"h0-p0", "h1-p0", "s2-p0", "s2-p1", "s3-p0", "s3-p1"};
    EXPECT(capture.interfaces == all, "all ports");
    EXPECT(std::ranges::is_sorted(capture.frames, {}, &CapturedFrame::timeNs), "by time");
    uint64_t sent = 0;
    for (const CapturedFrame& frame : capture.frames)
    {
        EXPECT_EQ(frame.bytes.size(), std::min(frame.length, 60U), "cut");
        sent += frame.sent ? 1 : 0;
    }
    EXPECT_EQ(sent, run.Sent(), "all that was sent");
    const uint64_t frames = capture.frames.size();
    EXPECT_GT(run.Lost(), 0, "some was lost");
    // A frame on a link at the end is only in its sender's capture, like a lost one.
    EXPECT_LT(frames, 2 * run.Sent() - run.Lost() + 1, "received");
    EXPECT_GT(frames, 2 * run.Sent() - run.Lost() - 12, "received");
}

TEST("only chosen ports are captured, and a capture changes nothing")
{
    const CapturedRun some({{{3, 0}, {0, 0}}}, 100);
    EXPECT_EQ(some.Files(), 1, "one file");
    const env::test::CapturedFrames capture = some.Frames();
    EXPECT(capture.interfaces == (std::vector<std::string>{"h0-p0", "s3-p0"}), "two ports");
    EXPECT(!capture.At("h0-p0").empty() && !capture.At("s3-p0").empty(), "frames of both");
    const CapturedRun none({}, 100, 0, false);
    EXPECT_EQ(none.Files(), 0, "none");
    EXPECT_EQ(none.End(), some.End(), "the same run");
    EXPECT_EQ(env::test::Refusal([] { CapturedRun({{{3, 7}}}, 100); }),
              "'record.pcap_ports': there is no port 7 at node 3, whose ports are 0 to 1",
              "no such port");
}

} // namespace

} // namespace ns3::env::tcp::test
