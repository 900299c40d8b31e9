// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a switch's queues: thresholds, RED, limits in packets, bytes and BDPs, refusals.
#include "episodes.h"

#include "ns3/fifo-queue-disc.h"
#include "ns3/queue-size.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3_env/cpp/engine/queue-stats.h"

#include <sstream>

namespace ns3::env::tcp::test
{

namespace
{

using Unit = QueueLength::Unit;

constexpr double RATE = 10e9;
constexpr Picos DELAY = 5 * PS_PER_US;

/// The queue at the middle of a dumbbell, over time from `begin`.
class QueueWatch
{
  public:
    QueueWatch(TestEpisode& episode, uint32_t senders, Picos begin)
        : m_stats(begin)
    {
        episode.Net()
            .EgressTo(senders + 1, senders + 2)
            .queue->TraceConnectWithoutContext(
                "PacketsInQueue",
                Callback<void, uint32_t, uint32_t>(
                    [this](uint32_t, uint32_t packets)
                    { m_stats.Update(packets, Simulator::Now().GetTimeStep()); }));
    }

    const QueueStats& Until(Picos end)
    {
        m_stats.Finish(end);
        return m_stats;
    }

  private:
    QueueStats m_stats;
};

class DctcpTest : public TestCase
{
  public:
    DctcpTest()
        : TestCase("DCTCP holds the queue near K, where CUBIC fills the buffer")
    {
    }

  private:
    static double
    MeanQueue(const char* controller, bool mark, uint64_t& retransmitted, double& goodput)
    {
        constexpr uint32_t SENDERS = 2;
        constexpr Picos BEGIN = 5 * PS_PER_MS;
        constexpr Picos END = 20 * PS_PER_MS;
        Scenario s = env::test::Dumbbell(SENDERS, RATE, DELAY);
        for (uint32_t i = 0; i < SENDERS; ++i)
        {
            env::test::AddFlow(s, i, SENDERS, ENDLESS_BYTES);
        }
        TcpSettings settings;
        settings.queue.limit = {250, Unit::Packets};
        settings.minRto = PS_PER_MS;
        settings.delayedAckTimeout = 200 * PS_PER_US;
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
    }

    void DoRun() override
    {
        uint64_t lost = 0;
        double goodput = 0;
        const double marked = MeanQueue("dctcp", true, lost, goodput);
        const double possible = RATE * 1448 / static_cast<double>(FrameBytes(1448));
        NS_TEST_EXPECT_MSG_EQ_TOL(marked, 40, 12, "packets of DCTCP with K = 40");
        NS_TEST_EXPECT_MSG_EQ(lost, 0, "DCTCP loses nothing");
        NS_TEST_EXPECT_MSG_GT(goodput, 0.99 * possible, "DCTCP fills the link");
        const double full = MeanQueue("cubic", false, lost, goodput);
        NS_TEST_EXPECT_MSG_GT(full, 120, "packets of CUBIC, 250 in the buffer");
        NS_TEST_EXPECT_MSG_GT(lost, 0, "CUBIC loses some");
    }
};

class LimitTest : public TestCase
{
  public:
    LimitTest()
        : TestCase("a limit in packets, bytes or BDPs is the queue's")
    {
    }

  private:
    void Expect(const QueueSettings& queue, const std::string& size, const std::string& type)
    {
        Scenario s = env::test::Dumbbell(1, RATE, DELAY);
        TcpSettings settings;
        settings.queue = queue;
        TestEpisode episode(s, settings, {"cubic", {}});
        const Ptr<QueueDisc> disc = episode.Net().EgressTo(2, 3).queue;
        std::ostringstream found;
        found << disc->GetMaxSize();
        NS_TEST_EXPECT_MSG_EQ(found.str(), size, type);
        NS_TEST_EXPECT_MSG_EQ(disc->GetInstanceTypeId().GetName(), type, size);
        NS_TEST_EXPECT_MSG_EQ(episode.Net().EgressTo(0, 2).queue->GetInstanceTypeId().GetName(),
                              "ns3::FifoQueueDisc",
                              "a host's");
    }

    void DoRun() override
    {
        Expect({{64, Unit::Packets}, DropTail{}}, "64p", "ns3::FifoQueueDisc");
        Expect({{100e3, Unit::Bytes}, DropTail{}}, "100000B", "ns3::FifoQueueDisc");
        // base RTT: 3 links of 2 * 5 us and the serialisation of 1490 bytes
        Expect({{2, Unit::Bdps}, DropTail{}}, "83940B", "ns3::FifoQueueDisc");
        Expect({{64, Unit::Packets}, EcnThreshold{{1, Unit::Bdps}}},
               "64p",
               "tcp::ThresholdQueueDisc");
        Expect({{200e3, Unit::Bytes}, Red{{10, Unit::Packets}, {30, Unit::Packets}}},
               "200000B",
               "ns3::RedQueueDisc");
    }
};

class RedTest : public TestCase
{
  public:
    RedTest()
        : TestCase("RED drops or marks with a probability, and the same seed gives the same bits")
    {
    }

  private:
    static std::pair<uint64_t, uint64_t> DropsAndMarks(bool ecn, uint64_t seed)
    {
        Scenario s = env::test::Dumbbell(2, RATE, DELAY);
        s.seed = seed;
        env::test::AddFlow(s, 0, 2, ENDLESS_BYTES);
        env::test::AddFlow(s, 1, 2, ENDLESS_BYTES);
        TcpSettings settings;
        settings.ecn = ecn;
        settings.minRto = PS_PER_MS;
        settings.delayedAckTimeout = 200 * PS_PER_US;
        Red red{{20, Unit::Packets}, {60, Unit::Packets}};
        red.ecn = ecn;
        red.averageWeight = 0.02;
        settings.queue = {{400, Unit::Packets}, red};
        TestEpisode episode(s, settings, {"newreno", {}});
        episode.RunUntil(8 * PS_PER_MS);
        const auto& stats = episode.Net().EgressTo(3, 4).queue->GetStats();
        return {stats.nTotalDroppedBytes, stats.nTotalMarkedPackets};
    }

    void DoRun() override
    {
        const auto dropping = DropsAndMarks(false, 7);
        NS_TEST_EXPECT_MSG_GT(dropping.first, 0, "without ECN it drops");
        NS_TEST_EXPECT_MSG_EQ(dropping.second, 0, "and marks nothing");
        NS_TEST_EXPECT_MSG_EQ((dropping == DropsAndMarks(false, 7)), true, "the same seed");
        NS_TEST_EXPECT_MSG_EQ((dropping == DropsAndMarks(false, 8)), false, "another seed");
        const auto marking = DropsAndMarks(true, 7);
        NS_TEST_EXPECT_MSG_EQ(marking.first, 0, "with ECN it drops nothing");
        NS_TEST_EXPECT_MSG_GT(marking.second, 0, "but marks");
    }
};

class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("what cannot be is refused with what would be right")
    {
    }

  private:
    void Refused(const TcpSettings& settings,
                 const ControllerSpec& controller,
                 const std::string& expected)
    {
        Scenario s = env::test::Dumbbell(1, RATE, DELAY);
        env::test::AddFlow(s, 0, 1, 1000);
        std::string message = "nothing";
        try
        {
            const TestEpisode episode(s, settings, controller);
        }
        catch (const ScenarioError& error)
        {
            message = error.what();
        }
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_NE(message.find(expected), std::string::npos, message);
    }

    void DoRun() override
    {
        TcpSettings settings;
        settings.queue.limit = {1000, Unit::Bytes};
        Refused(settings, {"cubic", {}}, "1000 bytes holds no full packet: at least 1488");
        settings.queue = {{100, Unit::Packets}, Red{{30, Unit::Packets}, {10, Unit::Packets}}};
        Refused(settings, {"cubic", {}}, "the thresholds ascend");
        settings = {};
        settings.segmentBytes = 0;
        Refused(settings, {"cubic", {}}, "a segment of 0 bytes: from 1 to 65000");
        settings = {};
        settings.minRto = PS_PER_MS;
        Refused(settings, {"cubic", {}}, "40000000 ns and the least RTO is 1000000 ns");
        settings = {};
        settings.segmentsPerAck = 0;
        Refused(settings, {"cubic", {}}, "an ACK for 0 segments");
        Refused({},
                {"reno", {}},
                "unknown congestion controller 'reno' for TCP; known: agent, bbr, bic, cubic, ");
        Refused({},
                {"cubic", {{"Beta", "much"}}},
                "congestion controller 'cubic': cannot set attribute 'Beta' to 'much'; it takes");
        Refused({}, {"cubic", {{"beta", "1"}}}, "its attributes: FastConvergence, TcpFriendliness");
    }
};

class QueueSuite : public TestSuite
{
  public:
    QueueSuite()
        : TestSuite("tcp-queue", Type::UNIT)
    {
        AddTestCase(new DctcpTest);
        AddTestCase(new LimitTest);
        AddTestCase(new RedTest);
        AddTestCase(new RefusalTest);
    }
};

const QueueSuite SUITE;

} // namespace

} // namespace ns3::env::tcp::test
