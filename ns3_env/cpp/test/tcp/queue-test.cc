// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a switch's queues: thresholds, RED, limits in packets, bytes and BDPs, refusals.
#include "episodes.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/queue-stats.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/network/red-queue.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-queue");

using Unit = QueueLength::Unit;

constexpr double RATE = 10e9;
constexpr Picos DELAY = 5 * PS_PER_US;

/// The queue at the middle of a dumbbell, over time, from `begin` on.
class QueueWatch : private PortObserver
{
  public:
    QueueWatch(TestEpisode& episode, uint32_t senders, Picos begin)
        : m_port(*episode.Net().EgressTo(senders + 1, senders + 2).egress),
          m_stats(begin)
    {
        m_port.Add(*this);
    }

    const QueueStats& Until(Picos end)
    {
        m_stats.Finish(end);
        return m_stats;
    }

  private:
    void OnTaken(const Port&, const Segment&) override { Update(); }
    void OnSent(const Port&, const Segment&) override { Update(); }
    void Update() { m_stats.Update(m_port.QueuedPackets(), NowPicos()); }

    Port& m_port;
    QueueStats m_stats;
};

TEST("DCTCP holds the queue near K, where CUBIC fills the buffer")
{
    const auto meanQueue =
        [](const char* controller, bool mark, uint64_t& retransmitted, double& goodput) -> double
    {
        constexpr uint32_t SENDERS = 2;
        constexpr Picos BEGIN = 5 * PS_PER_MS;
        constexpr Picos END = 20 * PS_PER_MS;
        Scenario s = Dumbbell(SENDERS, RATE, DELAY);
        AddIncast(s, SENDERS, ENDLESS_BYTES);
        TcpSettings settings;
        settings.delayedAckTimeout = 200 * PS_PER_US;
        settings.minRto = PS_PER_MS;
        settings.queue.limit = {250, Unit::Packets};
        if (mark)
        {
            settings.queue.discipline = EcnThreshold{{40, Unit::Packets}};
        }
        TestEpisode episode(s, settings, {controller, {}});
        QueueWatch watch(episode, SENDERS, BEGIN);
        episode.RunUntil(BEGIN);
        const uint64_t before = episode.Net().DeliveredPayload();
        episode.RunUntil(END);
        retransmitted = episode.Flow(0).RetransmittedBytes() + episode.Flow(1).RetransmittedBytes();
        goodput = static_cast<double>(episode.Net().DeliveredPayload() - before) * 8 /
                  (static_cast<double>(END - BEGIN) / PS_PER_SECOND);
        return watch.Until(END).Mean();
    };

    uint64_t lost = 0;
    double goodput = 0;
    const double marked = meanQueue("dctcp", true, lost, goodput);
    const double possible = RATE * 1448 / static_cast<double>(FrameBytes(1448));
    EXPECT_NEAR(marked, 40, 12, "packets of DCTCP with K = 40");
    EXPECT_EQ(lost, 0, "DCTCP loses nothing");
    EXPECT_GT(goodput, 0.99 * possible, "DCTCP fills the link");
    const double full = meanQueue("cubic", false, lost, goodput);
    EXPECT_GT(full, 120, "packets of CUBIC, 250 in the buffer");
    EXPECT_GT(lost, 0, "CUBIC loses some");
}

TEST("a limit in packets, bytes or BDPs is the queue's")
{
    const auto queueOf = [](const QueueSettings& queue, const auto& look)
    {
        Scenario s = Dumbbell(1, RATE, DELAY);
        TcpSettings settings;
        settings.queue = queue;
        TestEpisode episode(s, settings, {"cubic", {}});
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
                    EXPECT_EQ(fifo->Limit().amount, limit, "its limit");
                    EXPECT_EQ(fifo->Limit().inBytes, inBytes, "the limit's unit");
                    EXPECT_EQ(fifo->Threshold().amount, threshold, "its threshold");
                });
    };

    constexpr uint32_t NONE = QueueSpan{}.amount;
    isFifo({{64, Unit::Packets}, DropTail{}}, 64, false, NONE);
    isFifo({{100e3, Unit::Bytes}, DropTail{}}, 100'000, true, NONE);
    // base RTT: 3 links of 2 * 5 us and the serialisation of 1490 bytes
    isFifo({{2, Unit::Bdps}, DropTail{}}, 83'940, true, NONE);
    isFifo({{64, Unit::Packets}, EcnThreshold{{1, Unit::Bdps}}}, 64, false, 41'970);
    queueOf({{200e3, Unit::Bytes}, Red{{10, Unit::Packets}, {30, Unit::Packets}}},
            [](const PacketQueue& made)
            {
                EXPECT_NE(dynamic_cast<const RedQueue*>(&made), nullptr, "RED");
                EXPECT_EQ(made.Limit().amount, 200'000, "its limit");
            });
}

TEST("RED drops or marks with a probability, and the same seed gives the same bits")
{
    const auto dropsAndMarks = [](bool ecn, uint64_t seed) -> std::pair<uint64_t, uint64_t>
    {
        Scenario s = Dumbbell(2, RATE, DELAY);
        s.seed = seed;
        AddFlow(s, 0, 2, ENDLESS_BYTES);
        AddFlow(s, 1, 2, ENDLESS_BYTES);
        TcpSettings settings;
        settings.delayedAckTimeout = 200 * PS_PER_US;
        settings.ecn = ecn;
        settings.minRto = PS_PER_MS;
        Red red{{20, Unit::Packets}, {60, Unit::Packets}};
        red.ecn = ecn;
        red.averageWeight = 0.02;
        settings.queue = {{400, Unit::Packets}, red};
        TestEpisode episode(s, settings, {"newreno", {}});
        episode.RunUntil(8 * PS_PER_MS);
        const Port& port = *episode.Net().EgressTo(3, 4).egress;
        return {port.Lost().By(LossCause::BufferFull).payloadBytes, port.Marked()};
    };

    const auto dropping = dropsAndMarks(false, 7);
    EXPECT_GT(dropping.first, 0, "without ECN it drops");
    EXPECT_EQ(dropping.second, 0, "and marks nothing");
    EXPECT(dropping == dropsAndMarks(false, 7), "the same seed");
    EXPECT_EQ((dropping == dropsAndMarks(false, 8)), false, "another seed");
    const auto marking = dropsAndMarks(true, 7);
    EXPECT_EQ(marking.first, 0, "with ECN it drops nothing");
    EXPECT_GT(marking.second, 0, "but marks");
}

TEST("what cannot be is refused with what would be right")
{
    const auto refused = [&](const TcpSettings& settings,
                             const ControllerSpec& controller,
                             const std::string& expected)
    {
        Scenario s = Dumbbell(1, RATE, DELAY);
        AddFlow(s, 0, 1, 1000);
        const std::string message =
            env::test::Refusal([&] { TestEpisode(s, settings, controller); });
        Simulator::Destroy();
        EXPECT_NE(message.find(expected), std::string::npos, message);
    };

    TcpSettings settings;
    settings.queue.limit = {1000, Unit::Bytes};
    refused(settings, {"cubic", {}}, "1000 bytes holds no full packet: at least 1488");
    settings.queue = {{100, Unit::Packets}, Red{{30, Unit::Packets}, {10, Unit::Packets}}};
    refused(settings, {"cubic", {}}, "the thresholds ascend");
    settings = {};
    settings.segmentBytes = 0;
    refused(settings, {"cubic", {}}, "a segment of 0 bytes: from 1 to 65000");
    settings = {};
    settings.minRto = PS_PER_MS;
    refused(settings, {"cubic", {}}, "40000000 ns and the least RTO is 1000000 ns");
    settings = {};
    settings.segmentsPerAck = 0;
    refused(settings, {"cubic", {}}, "an ACK for 0 segments");
    refused({},
            {"reno", {}},
            "unknown congestion controller 'reno' for TCP; known: agent, bbr, bic, cubic, ");
    refused({},
            {"cubic", {{"Beta", "much"}}},
            "congestion controller 'cubic': cannot set attribute 'Beta' to 'much'; it takes");
    refused({}, {"cubic", {{"beta", "1"}}}, "its attributes: FastConvergence, TcpFriendliness");
}

} // namespace

} // namespace ns3::env::tcp::test
