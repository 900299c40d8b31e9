// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of queues: limits in packets, bytes and BDPs, thresholds, lengths, bytes sent, losses.
#include "episodes.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/tcp/network/red-queue.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-queue");

using Unit = QueueLength::Unit;

constexpr double RATE = 10e9;
constexpr Picos DELAY = 5 * US;

TEST("a limit in packets, bytes or BDPs is the queue's")
{
    const auto queueOf = [](const QueueSettings& queue, const auto& look)
    {
        TcpSettings settings;
        settings.queue = queue;
        TestEpisode episode(Dumbbell(1, RATE, DELAY), settings, {"cubic", {}});
        look(episode.Net().EgressTo(2, 3).egress->Queue());
        const auto& hosts = episode.Net().EgressTo(0, 2).egress->Queue();
        EXPECT_EQ(hosts.Limit().amount, QueueSpan{}.amount, "a host's has none");
    };
    const auto isFifo =
        [&](const QueueSettings& queue, uint32_t limit, bool inBytes, uint32_t threshold)
    {
        queueOf(queue,
                [&](const PacketQueue& made)
                {
                    const auto* fifo = dynamic_cast<const Fifo*>(&made);
                    ASSERT_NE(fifo, nullptr, limit);
                    EXPECT_EQ(Row(fifo->Limit().amount, fifo->Limit().inBytes),
                              Row(limit, inBytes),
                              "its limit and the limit's unit");
                    EXPECT_EQ(fifo->Threshold().amount, threshold, "its threshold");
                });
    };

    constexpr uint32_t NONE = QueueSpan{}.amount;
    isFifo({Packets(64), DropTail{}}, 64, false, NONE);
    isFifo({{100e3, Unit::Bytes}, DropTail{}}, 100'000, true, NONE);
    // base RTT: 3 links of 2 * 5 us and the serialisation of 1490 bytes
    isFifo({{2, Unit::Bdps}, DropTail{}}, 83'940, true, NONE);
    isFifo({Packets(64), EcnThreshold{{1, Unit::Bdps}}}, 64, false, 41'970);
    queueOf({{200e3, Unit::Bytes}, Red{Packets(10), Packets(30)}},
            [](const PacketQueue& made)
            {
                EXPECT_NE(dynamic_cast<const RedQueue*>(&made), nullptr, "RED");
                EXPECT_EQ(made.Limit().amount, 200'000, "its limit");
            });
}

TEST("RED marks where it may, and drops otherwise")
{
    for (const bool ecn : {false, true})
    {
        Scenario s = Dumbbell(2, RATE, DELAY);
        AddIncast(s, 2, ENDLESS_BYTES);
        TcpSettings settings = ShortTimeouts();
        settings.ecn = ecn;
        Red red{Packets(20), Packets(60)};
        red.ecn = ecn;
        red.averageWeight = 0.02;
        settings.queue = {Packets(400), red};
        TestEpisode episode(s, settings, {"newreno", {}});
        episode.RunUntil(8 * MS);
        const Port& port = episode.PortTo(3, 4);
        const bool drops = port.Lost().By(LossCause::BufferFull).packets > 0;
        EXPECT_EQ(Row(drops, port.Marked() > 0), Row(!ecn, ecn), "drops, marks");
    }
}

TEST("settings that contradict each other are refused with what would be right")
{
    const auto refused =
        [](const std::string& expected, const std::function<void(TcpSettings&)>& change)
    {
        Scenario s = Dumbbell(1, RATE, DELAY);
        AddFlow(s, 0, 1, 1000);
        TcpSettings settings;
        change(settings);
        const std::string message = Refusal([&] { TestEpisode(s, settings, {"cubic", {}}); });
        Simulator::Destroy();
        EXPECT_NE(message.find(expected), std::string::npos, message);
    };
    refused("a segment of 0 bytes: from 1 to 65000", [](TcpSettings& x) { x.segmentBytes = 0; });
    refused("40000000 ns and the least RTO is 1000000 ns", [](TcpSettings& x) { x.minRto = MS; });
    refused("an ACK for 0 segments", [](TcpSettings& x) { x.segmentsPerAck = 0; });
}

constexpr uint32_t PAYLOAD = 1448;
constexpr uint32_t PACKET = PAYLOAD + 8 + 20; // of a datagram with its IP header
constexpr uint32_t FRAME = PACKET + 2;
const Picos EACH = IdealTime(FRAME, RATE, Rounding::Exact);

/// Host 0 sends some datagrams, each as the one before has left, to host 1; the link between the switches, 2 and 3, is
/// ten times as slow. \returns the state at `end`
std::unique_ptr<TestEpisode>
After(uint32_t datagrams,
      Picos end,
      const TcpSettings& settings = {},
      std::optional<TimeSpan> measurement = {},
      bool recordQueues = true)
{
    Scenario s = SlowMiddle(1, RATE, RATE / 10, US);
    s.payloadBytes = PAYLOAD;
    s.measurement = measurement;
    s.recordQueues = recordQueues;
    AddStream(s, 0, 1, RATE, 0, datagrams * EACH);
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

} // namespace

} // namespace ns3::env::tcp::test
