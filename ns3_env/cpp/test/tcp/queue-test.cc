// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a switch's queues: thresholds, RED, limits in packets, bytes and BDPs, refusals.
#include "episodes.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/tcp/network/red-queue.h"

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-queue");

using Unit = QueueLength::Unit;

constexpr double RATE = 10e9;
constexpr Picos DELAY = 5 * US;

TEST("DCTCP holds the queue near K, where CUBIC fills the buffer")
{
    for (const bool dctcp : {true, false})
    {
        constexpr Picos BEGIN = 5 * MS;
        constexpr Picos END = 20 * MS;
        Scenario s = Dumbbell(2, RATE, DELAY);
        s.measurement = {BEGIN, END};
        AddIncast(s, 2, ENDLESS_BYTES);
        TcpSettings settings = ShortTimeouts();
        settings.queue.limit = Packets(250);
        if (dctcp)
        {
            settings.queue.discipline = EcnThreshold{Packets(40)};
        }
        TestEpisode episode(s, settings, {dctcp ? "dctcp" : "cubic", {}});
        const double goodput = episode.GoodputShare(BEGIN, END, RATE);
        episode.Net().FinishQueues(END);
        const double packets = episode.PortTo(3, 4).Stats()->Mean() / 1488;
        const uint64_t lost =
            episode.Flow(0).RetransmittedBytes() + episode.Flow(1).RetransmittedBytes();
        EXPECT(dctcp ? std::abs(packets - 40) < 12 : packets > 120, packets << " packets");
        EXPECT_EQ(lost > 0, !dctcp, "DCTCP loses nothing, CUBIC some");
        EXPECT(!dctcp || goodput > 0.99, "DCTCP fills the link");
    }
}

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

TEST("RED drops or marks with a probability, which the seed decides")
{
    const auto dropsAndMarks = [](bool ecn, uint64_t seed) -> std::pair<uint64_t, uint64_t>
    {
        Scenario s = Dumbbell(2, RATE, DELAY);
        s.seed = seed;
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
        return {port.Lost().By(LossCause::BufferFull).payloadBytes, port.Marked()};
    };

    const auto dropping = dropsAndMarks(false, 7);
    EXPECT_GT(dropping.first, 0, "without ECN it drops");
    EXPECT_EQ(dropping.second, 0, "and marks nothing");
    EXPECT(dropping == dropsAndMarks(false, 7), "the same seed");
    EXPECT(dropping != dropsAndMarks(false, 8), "another seed");
    const auto marking = dropsAndMarks(true, 7);
    EXPECT_EQ(marking.first, 0, "with ECN it drops nothing");
    EXPECT_GT(marking.second, 0, "but marks");
}

TEST("what cannot be is refused with what would be right")
{
    const auto refused = [](const std::string& expected,
                            const std::function<void(TcpSettings&)>& change,
                            const ControllerSpec& controller = {"cubic", {}})
    {
        Scenario s = Dumbbell(1, RATE, DELAY);
        AddFlow(s, 0, 1, 1000);
        TcpSettings settings;
        change(settings);
        const std::string message = Refusal([&] { TestEpisode(s, settings, controller); });
        Simulator::Destroy();
        EXPECT_NE(message.find(expected), std::string::npos, message);
    };
    const auto nothing = [](TcpSettings&) {};
    const auto red = [](TcpSettings& x)
    { x.queue = {Packets(100), Red{Packets(30), Packets(10)}}; };
    refused("1000 bytes holds no full packet: at least 1488",
            [](TcpSettings& x) { x.queue.limit = {1000, Unit::Bytes}; });
    refused("the thresholds ascend", red);
    refused("a segment of 0 bytes: from 1 to 65000", [](TcpSettings& x) { x.segmentBytes = 0; });
    refused("40000000 ns and the least RTO is 1000000 ns", [](TcpSettings& x) { x.minRto = MS; });
    refused("an ACK for 0 segments", [](TcpSettings& x) { x.segmentsPerAck = 0; });
    refused("unknown congestion controller 'reno' for TCP; known: agent, bbr, bic, cubic, ",
            nothing,
            {"reno", {}});
    refused("congestion controller 'cubic': cannot set attribute 'Beta' to 'much'; it takes",
            nothing,
            {"cubic", {{"Beta", "much"}}});
    refused("its attributes: FastConvergence, TcpFriendliness",
            nothing,
            {"cubic", {{"beta", "1"}}});
}

} // namespace

} // namespace ns3::env::tcp::test
