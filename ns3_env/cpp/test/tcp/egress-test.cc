// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of an egress: its queue's length, bytes sent, and losses there and on its link.
#include "episodes.h"

#include "ns3_env/cpp/tcp/network/udp-streams.h"
#include "ns3_env/cpp/test/suite.h"

#include <map>
#include <utility>

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
/// ten times as slow.
Scenario
Burst(uint32_t datagrams)
{
    Scenario s = SlowMiddle(1, FAST, FAST / 10, PS_PER_US);
    s.payloadBytes = PAYLOAD;
    s.streams.push_back({{0, 0, 1, ENDLESS_BYTES, 0}, FAST, datagrams * EACH});
    return s;
}

/// State at `end` of a scenario without flows.
class After
{
  public:
    After(const Scenario& scenario, const TcpSettings& settings, Picos end)
        : m_scenario(scenario),
          m_episode(m_scenario, settings, {"cubic", {}})
    {
        UdpStreams streams(m_scenario, m_episode.Net());
        streams.Schedule();
        m_episode.RunUntil(end);
        m_episode.Net().FinishQueues(end);
    }

    const Fabric& Net() { return m_episode.Net(); }

  private:
    Scenario m_scenario;
    TestEpisode m_episode;
};

TEST("a burst waits as long as arithmetic says, from when it is counted")
{
    constexpr uint32_t DATAGRAMS = 10;
    constexpr Picos END = PS_PER_MS;
    Scenario s = Burst(DATAGRAMS);
    {
        After after(s, {}, END);
        const Port& slow = *after.Net().EgressTo(2, 3).egress;
        ASSERT_NE(slow.Stats(), nullptr, "kept at a switch");
        // Datagram k waits for 10 k times EACH minus the k times EACH by which it arrived later.
        constexpr double WAITS = 9 * (DATAGRAMS - 1) * DATAGRAMS / 2.0;
        const double mean = PACKET * WAITS * static_cast<double>(EACH) / END;
        EXPECT_NEAR(slow.Stats()->Mean(), mean, 1e-9 * mean, "mean");
        EXPECT_EQ(slow.Stats()->Max(), (DATAGRAMS - 1) * PACKET, "maximum");
        EXPECT_EQ(slow.Stats()->Percentile(0.5), 0, "most of the time");
        EXPECT_EQ(slow.TxBytes(), DATAGRAMS * FRAME, "the link's header included");
        EXPECT_EQ(slow.TxPackets(), DATAGRAMS, "packets");
        EXPECT_EQ(slow.WaitingBytes(), 0, "now");
        const Port& behind = *after.Net().EgressTo(3, 1).egress;
        EXPECT_EQ(behind.Stats()->Max(), 0, "none waits behind a slower link");
        EXPECT_EQ(after.Net().EgressTo(0, 2).egress->Stats(), nullptr, "no switch");
    }
    {
        After after(s, {}, PS_PER_US + 5 * EACH + EACH / 2); // five have arrived
        EXPECT_EQ(after.Net().EgressTo(2, 3).egress->WaitingBytes(),
                  4 * PACKET,
                  "one is on its way to the link");
    }
    s.measurement = {END / 2, END};
    {
        After after(s, {}, END);
        EXPECT_EQ(after.Net().EgressTo(2, 3).egress->Stats()->Mean(), 0, "later");
    }
    s.recordQueues = false;
    {
        After after(s, {}, END);
        EXPECT_EQ(after.Net().EgressTo(2, 3).egress->Stats(), nullptr, "unasked");
    }
}

TEST("what finds no room is lost at its egress, and no byte elsewhere")
{
    constexpr uint32_t LIMIT = 5;
    constexpr uint32_t DATAGRAMS = 9; // the last has arrived as the first leaves
    TcpSettings settings;
    settings.queue.limit = {LIMIT, QueueLength::Unit::Packets};
    After after(Burst(DATAGRAMS), settings, PS_PER_MS);
    const auto records = after.Net().LossRecords();
    ASSERT_EQ(records.size(), 1, "one egress, one cause");
    const LossRecord& record = records.front();
    EXPECT_EQ(record.node, 2, "the first switch");
    EXPECT_EQ(record.port, 1, "its second link");
    EXPECT_EQ(record.peer, 3, "to the other one");
    EXPECT(record.cause == LossCause::BufferFull, "no room");
    const uint32_t lost = DATAGRAMS - LIMIT - 2; // one in transmission, one in the device
    EXPECT_EQ(record.lost.packets, lost, "packets");
    EXPECT_EQ(record.lost.payloadBytes, lost * PAYLOAD, "payload");
    EXPECT_EQ(after.Net().DroppedPayload(), lost * PAYLOAD, "in all");
    EXPECT_EQ(after.Net().EgressTo(2, 3).egress->Stats()->Max(),
              (LIMIT + 1) * PACKET,
              "a full queue and the device's packet");
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
    TcpSettings settings;
    settings.delayedAckTimeout = 200 * PS_PER_US;
    settings.minRto = 2 * PS_PER_MS;
    TestEpisode episode(s, settings, {"cubic", {}});
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
