// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of an egress: its queue's length, bytes sent, and losses there and on its link.
#include "episodes.h"

#include "ns3_env/cpp/tcp/network/udp-streams.h"

#include <map>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-egress");

constexpr uint32_t PAYLOAD = 1448;
constexpr uint32_t PACKET = PAYLOAD + 8 + 20; // of a datagram with its IP header
constexpr uint32_t FRAME = PACKET + 2;
constexpr double FAST = 10e9;
const Picos EACH = IdealTime(FRAME, FAST, Rounding::Exact);

/// Host 0 sends some datagrams, each as the one before has left, to host 1; the link between the switches, 2 and 3, is
/// ten times as slow. \returns the state at `end`
std::unique_ptr<TestEpisode>
After(uint32_t datagrams,
      Picos end,
      const TcpSettings& settings = {},
      std::optional<TimeSpan> measurement = {},
      bool recordQueues = true)
{
    Scenario s = SlowMiddle(1, FAST, FAST / 10, US);
    s.payloadBytes = PAYLOAD;
    s.measurement = measurement;
    s.recordQueues = recordQueues;
    AddStream(s, 0, 1, FAST, 0, datagrams * EACH);
    auto episode = std::make_unique<TestEpisode>(s, settings, ControllerSpec{"cubic", {}});
    UdpStreams streams(s, episode->Net());
    streams.Schedule();
    episode->RunUntil(end);
    episode->Net().FinishQueues(end);
    return episode;
}

TEST("a burst waits as long as arithmetic says, from when it is counted")
{
    constexpr uint32_t DATAGRAMS = 10;
    constexpr Picos END = MS;
    auto after = After(DATAGRAMS, END);
    const Port& slow = after->PortTo(2, 3);
    ASSERT_NE(slow.Stats(), nullptr, "kept at a switch");
    // Datagram k waits for 10 k times EACH minus the k times EACH by which it arrived later.
    constexpr double WAITS = 9 * (DATAGRAMS - 1) * DATAGRAMS / 2.0;
    const double mean = PACKET * WAITS * static_cast<double>(EACH) / END;
    EXPECT_NEAR(slow.Stats()->Mean(), mean, 1e-9 * mean, "mean");
    EXPECT_EQ(Row(slow.Stats()->Max(), slow.Stats()->Percentile(0.5), slow.WaitingBytes()),
              Row((DATAGRAMS - 1) * PACKET, 0, 0),
              "maximum, most of the time, now");
    EXPECT_EQ(slow.TxBytes(), DATAGRAMS * FRAME, "the link's header included");
    EXPECT_EQ(slow.TxPackets(), DATAGRAMS, "packets");
    EXPECT_EQ(after->PortTo(3, 1).Stats()->Max(), 0, "none waits behind a slower link");
    EXPECT_EQ(after->PortTo(0, 2).Stats(), nullptr, "no switch");
    after.reset();
    after = After(DATAGRAMS, US + 5 * EACH + EACH / 2); // five have arrived
    EXPECT_EQ(after->PortTo(2, 3).WaitingBytes(), 4 * PACKET, "one is on its way to the link");
    after.reset();
    after = After(DATAGRAMS, END, {}, TimeSpan{END / 2, END});
    EXPECT_EQ(after->PortTo(2, 3).Stats()->Mean(), 0, "later");
    after.reset();
    EXPECT_EQ(After(DATAGRAMS, END, {}, {}, false)->PortTo(2, 3).Stats(), nullptr, "unasked");
}

TEST("what finds no room is lost at its egress, and no byte elsewhere")
{
    constexpr uint32_t LIMIT = 5;
    constexpr uint32_t DATAGRAMS = 9; // the last has arrived as the first leaves
    TcpSettings settings;
    settings.queue.limit = Packets(LIMIT);
    const auto after = After(DATAGRAMS, MS, settings);
    const auto records = after->Net().LossRecords();
    ASSERT_EQ(records.size(), 1, "one egress, one cause");
    const LossRecord& record = records.front();
    EXPECT_EQ(Row(record.node, record.port, record.peer), Row(2, 1, 3), "from switch to switch");
    EXPECT(record.cause == LossCause::BufferFull, "no room");
    const uint32_t lost = DATAGRAMS - LIMIT - 2; // one in transmission, one in the device
    EXPECT_EQ(record.lost.packets, lost, "packets");
    EXPECT_EQ(record.lost.payloadBytes, lost * PAYLOAD, "payload");
    EXPECT_EQ(after->Net().DroppedPayload(), lost * PAYLOAD, "in all");
    EXPECT_EQ(after->PortTo(2, 3).Stats()->Max(), (LIMIT + 1) * PACKET, "and the device's packet");
}

/// Packets that links lost, by sender and receiver.
struct SeenLosses final : PortObserver
{
    void OnLost(const Port& port, const Segment&, LossCause cause) override
    {
        lost[links.at(&port)] += cause == LossCause::Link ? 1 : 0;
    }

    std::map<const Port*, std::pair<uint32_t, uint32_t>> links;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> lost;
};

TEST("what a link loses is charged to the egress before it")
{
    Scenario s = FatTree16();
    s.lossProbability = 0.01;
    for (uint32_t host = 0; host < 16; ++host)
    {
        AddFlow(s, host, (host + 7) % 16, 200'000);
    }
    TestEpisode episode(s, ShortTimeouts(2 * MS), {"cubic", {}});
    SeenLosses seen;
    for (const Egress& egress : episode.Net().Egresses())
    {
        egress.egress->Add(seen);
        seen.links[egress.egress.get()] = {egress.node, egress.peer};
    }
    episode.Run();
    uint64_t payload = 0;
    for (const LossRecord& record : episode.Net().LossRecords())
    {
        payload += record.lost.payloadBytes;
        if (record.cause == LossCause::Link)
        {
            const std::pair link{record.node, record.peer};
            EXPECT_EQ(record.lost.packets, seen.lost[link], "as much as was seen");
            seen.lost.erase(link);
        }
    }
    EXPECT(seen.lost.empty(), "no loss without its record");
    EXPECT_EQ(payload, episode.Net().DroppedPayload(), "the sum");
    EXPECT_GT(payload, 0, "there was some");
}

} // namespace

} // namespace ns3::env::tcp::test
