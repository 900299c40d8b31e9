// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP's captures: files taken apart byte by byte, as their formats say.
#include "episodes.h"

#include "ns3_env/cpp/recorders/internet-checksum.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"
#include "ns3_env/cpp/tcp/program/pcap.h"
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
using env::test::ReadFile;
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

/// A number of four bytes, the least significant one first.
uint32_t
Little(std::span<const uint8_t> bytes, size_t at)
{
    const auto four = bytes.subspan(at, 4);
    return static_cast<uint32_t>(four[0] | four[1] << 8 | four[2] << 16) | uint32_t{four[3]} << 24;
}

struct Record
{
    uint64_t timeNs;
    uint32_t length; ///< on the link
    Bytes kept;

    bool operator==(const Record&) const = default;
};

/// Of a file of one port (pcap-savefile(5)).
std::vector<Record>
RecordsOf(const Bytes& file)
{
    constexpr size_t FILE_HEADER = 24;
    constexpr size_t RECORD_HEADER = 16;
    constexpr uint64_t NS_PER_SECOND = 1'000'000'000;
    std::vector<Record> records;
    for (size_t at = FILE_HEADER; at < file.size();)
    {
        const size_t kept = Little(file, at + 8);
        const auto begin = file.begin() + static_cast<ptrdiff_t>(at + RECORD_HEADER);
        records.push_back({Little(file, at) * NS_PER_SECOND + Little(file, at + 4),
                           Little(file, at + 12),
                           Bytes(begin, begin + static_cast<ptrdiff_t>(kept))});
        at += RECORD_HEADER + kept;
    }
    return records;
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

    Bytes File(const std::string& name) const { return ReadFile(m_folder / name); }
    std::vector<Record> Records(const std::string& port) const
    {
        return RecordsOf(File("x-" + port + ".pcap"));
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

TEST("a port's file has PPP's frames with whole headers, in the order of time")
{
    /// 0 where the checksum is right.
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
    const Bytes file = run.File("x-0-0.pcap");
    ASSERT_GT(file.size(), 24, "there is a file");
    EXPECT_EQ(Little(file, 0), 0xa1b23c4d, "nanoseconds");
    EXPECT_EQ(Little(file, 20), 9, "PPP");
    std::map<uint32_t, uint64_t> payload; // of TCP's, by sequence number
    uint64_t last = 0;
    uint64_t datagrams = 0;
    for (const Record& record : run.Records("0-0"))
    {
        const Bytes& frame = record.kept;
        EXPECT_GE(record.timeNs, last, "time goes on");
        last = record.timeNs;
        ASSERT_EQ(frame.size(), record.length, "whole");
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

TEST("each frame is at the ports that it passes, and in the capture of all")
{
    struct Merged
    {
        std::vector<std::string> interfaces;
        std::map<std::string, std::vector<Record>> frames; ///< by interface
        uint64_t outbound{0};
        bool ordered{true};
    };
    const auto parse = [](const Bytes& file) -> Merged
    {
        Merged merged;
        uint64_t last = 0;
        for (size_t at = 0; at < file.size(); at += Little(file, at + 4))
        {
            const uint32_t type = Little(file, at);
            if (type == 1) // an interface: link type and snap length, then its name
            {
                NS_ABORT_MSG_IF(file[at + 8] != 9, "not PPP");
                const size_t name = at + 20;
                merged.interfaces.emplace_back(file.begin() + static_cast<ptrdiff_t>(name),
                                               file.begin() +
                                                   static_cast<ptrdiff_t>(name + file[at + 18]));
            }
            if (type == 6)
            {
                const uint64_t time = uint64_t{Little(file, at + 12)} << 32 | Little(file, at + 16);
                const uint32_t kept = Little(file, at + 20);
                const auto begin = file.begin() + static_cast<ptrdiff_t>(at + 28);
                merged.frames[merged.interfaces.at(Little(file, at + 8))].push_back(
                    {time, Little(file, at + 24), Bytes(begin, begin + kept)});
                merged.ordered = merged.ordered && time >= last;
                last = time;
                const size_t flags = at + 28 + (kept + 3) / 4 * 4 + 4;
                merged.outbound += Little(file, flags) == 2 ? 1 : 0;
            }
        }
        return merged;
    };

    const CapturedRun run({}, 60, 0.05);
    const Merged merged = parse(run.File("x.pcapng"));
    EXPECT(merged.ordered, "in the order of time");
    uint64_t frames = 0;
    const std::map<std::string, std::string> files{{"h0-p0", "0-0"},
                                                   {"h1-p0", "1-0"},
                                                   {"s2-p0", "2-0"},
                                                   {"s2-p1", "2-1"},
                                                   {"s3-p0", "3-0"},
                                                   {"s3-p1", "3-1"}};
    EXPECT_EQ(merged.interfaces.size(), files.size(), "all ports");
    for (const auto& [interface, file] : files)
    {
        const std::vector<Record> records = run.Records(file);
        EXPECT(records == merged.frames.at(interface), interface);
        for (const Record& record : records)
        {
            EXPECT_EQ(record.kept.size(), std::min(record.length, 60U), "cut");
        }
        frames += records.size();
    }
    EXPECT_EQ(merged.outbound, run.Sent(), "all that was sent");
    EXPECT_GT(run.Lost(), 0, "some was lost");
    // What is on a link at the end is at its sender's only, like what was lost.
    EXPECT_LT(frames, 2 * run.Sent() - run.Lost() + 1, "received");
    EXPECT_GT(frames, 2 * run.Sent() - run.Lost() - 12, "received");
}

TEST("chosen ports alone have files, and a capture changes nothing")
{
    const CapturedRun some({{{3, 0}, {0, 0}}}, 100);
    EXPECT_EQ(some.Files(), 3, "two ports and all together");
    EXPECT_EQ(some.Records("3-0").empty(), false, "a switch's");
    EXPECT_EQ(some.Records("0-0").empty(), false, "a host's");
    const CapturedRun none({}, 100, 0, false);
    EXPECT_EQ(none.Files(), 0, "none");
    EXPECT_EQ(none.End(), some.End(), "the same run");
    EXPECT_EQ(env::test::Refusal([] { CapturedRun({{{3, 7}}}, 100); }),
              "'record.pcap_ports': there is no port 7 at node 3, whose ports are 0 to 1",
              "no such port");
}

} // namespace

} // namespace ns3::env::tcp::test
