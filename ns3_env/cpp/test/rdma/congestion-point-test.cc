// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of congestion points (802.1Qau): samples, feedback, and a frame's way back.
#include "test-network.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/test.h"
#include "ns3_env/cpp/rdma/network/congestion-point.h"

#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

constexpr uint32_t FRAME = 1000;
constexpr Picos US = 1000 * PS_PER_NS;

CongestionPointConfig
Regular(double sampleBytes)
{
    return {.enabled = true,
            .sampleBytes = sampleBytes,
            .sampleJitter = 0,
            .adaptiveSampling = false,
            .negativeOnly = false};
}

/// Frames until the next sample of a queue that stands at `queueBytes`; what it says.
std::pair<uint32_t, std::optional<QueueFeedback>>
NextSample(CongestionPoint& point, uint64_t queueBytes, uint32_t patience = 1'000'000)
{
    for (uint32_t frames = 1; frames <= patience; ++frames)
    {
        if (const auto feedback = point.OnArrival(FRAME, queueBytes))
        {
            return {frames, feedback};
        }
    }
    return {patience, std::nullopt};
}

/// Jiang 2015, eq. 1.
class FeedbackTest : public TestCase
{
  public:
    FeedbackTest()
        : TestCase("feedback: offset and change in units of 64 B, -Fb in 63 levels of q0 (2 w + 1)")
    {
    }

  private:
    void Expect(uint64_t queue, int32_t offset, int32_t delta, int level)
    {
        const auto feedback = NextSample(m_point, queue).second;
        NS_TEST_ASSERT_MSG_EQ(feedback.has_value(), true, "a sample");
        NS_TEST_EXPECT_MSG_EQ(feedback->offsetBytes, offset, "Q_off");
        NS_TEST_EXPECT_MSG_EQ(feedback->deltaBytes, delta, "dQ");
        NS_TEST_EXPECT_MSG_EQ(int{feedback->quantised}, level, "level");
        NS_TEST_EXPECT_MSG_EQ(feedback->congestionPoint, 7, "who speaks");
    }

    void DoRun() override
    {
        Expect(100'000, 36'032, 100'032, 46); // (36000 + 2 * 100000) / 320000 * 63 = 46.5
        Expect(100'000, 36'032, 0, 7);        // 36000 / 320000 * 63 = 7.1
        Expect(64'000, 0, -36'032, 0);        // falling to the target: Fb > 0
        Expect(1'064, -62'912, -62'912, 0);
        Expect(10'000'000, 2'097'088, 2'097'088, 63); // what 16 bits in units of 64 B can say
    }

    OneStream m_random;
    CongestionPoint m_point{Regular(10e3), 7, m_random};
};

class SamplingTest : public TestCase
{
  public:
    SamplingTest()
        : TestCase("samples: by bytes, faster as -Fb grows, with 15 % of jitter, or by probability")
    {
    }

  private:
    void DoRun() override
    {
        OneStream random;
        CongestionPoint regular(Regular(100e3), 0, random);
        NS_TEST_EXPECT_MSG_EQ(NextSample(regular, 1000).first, 100, "each 100 kB");
        NS_TEST_EXPECT_MSG_EQ(NextSample(regular, 1000).first, 100, "and again");

        // The table of IEEE 802.1Q, 32.9.2: the interval after a level of 8 i, in kB. The queue stands still, so that
        // its offset alone makes the level.
        const std::array<uint32_t, 8> table{150, 75, 50, 38, 30, 25, 22, 19};
        for (size_t i = 0; i < table.size(); ++i)
        {
            CongestionPointConfig config = Regular(150e3);
            config.adaptiveSampling = true;
            CongestionPoint point(config, 0, random);
            const auto queue =
                static_cast<uint64_t>(64e3 + (8 * static_cast<double>(i) + 1) * 320e3 / 63);
            NextSample(point, queue); // from an empty queue
            NextSample(point, queue);
            NS_TEST_EXPECT_MSG_EQ(NextSample(point, queue).first, table[i], "level 8 i");
        }

        CongestionPointConfig jittery = Regular(100e3);
        jittery.sampleJitter = 0.15;
        CongestionPoint jumping(jittery, 0, random);
        NextSample(jumping, 1000);
        uint32_t least = UINT32_MAX;
        uint32_t most = 0;
        uint32_t sum = 0;
        for (int i = 0; i < 1000; ++i)
        {
            const uint32_t frames = NextSample(jumping, 1000).first;
            least = std::min(least, frames);
            most = std::max(most, frames);
            sum += frames;
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(least, 86, 1, "down to 85 kB");
        NS_TEST_EXPECT_MSG_EQ_TOL(most, 115, 1, "up to 115 kB");
        NS_TEST_EXPECT_MSG_EQ_TOL(sum / 1000.0, 100.5, 1.5, "100 kB in the mean, in whole frames");

        CongestionPointConfig likely = Regular(1.0);
        likely.sampleProbability = 0.01;
        CongestionPoint dice(likely, 0, random);
        sum = 0;
        for (int i = 0; i < 1000; ++i)
        {
            sum += NextSample(dice, 1000).first;
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(sum / 1000.0, 100, 10, "p = 0.01: each hundredth in the mean");

        CongestionPointConfig negative = Regular(10e3);
        negative.negativeOnly = true;
        CongestionPoint silent(negative, 0, random);
        NS_TEST_EXPECT_MSG_EQ(NextSample(silent, 60'000, 10).second.has_value(),
                              true,
                              "below the target, but growing fast");
        NS_TEST_EXPECT_MSG_EQ(NextSample(silent, 63'000, 1000).second.has_value(),
                              false,
                              "below the target: nothing is said");
    }
};

/// Two senders fill the link from switch 3 to switch 4; each tenth frame is a sample.
class WayBackTest : public TestCase
{
  public:
    explicit WayBackTest(bool paused)
        : TestCase(paused ? "a feedback frame passes a paused port"
                          : "a feedback frame takes its link's time to the data's source"),
          m_paused(paused)
    {
    }

  private:
    struct Seen
    {
        uint32_t host;
        Picos at;
        QueueFeedback feedback;
    };

    void DoRun() override
    {
        Scenario s = Dumbbell(2, 1e9);
        s.published = false;
        s.congestionPoints = Regular(10e3);
        AddFlow(s, 0, 2, 100'000);
        AddFlow(s, 1, 2, 100'000);
        TestNetwork net(std::move(s));
        std::vector<Seen> seen;
        for (const uint32_t host : {0U, 1U})
        {
            net->Nics()[host]->TraceConnectWithoutContext(
                "Rx",
                Callback<void, const Packet&>(
                    [&seen, host](const Packet& packet)
                    {
                        if (packet.kind == PacketKind::Notification)
                        {
                            seen.push_back({host, NowPicos(), packet.feedback});
                        }
                    }));
        }
        if (m_paused)
        {
            Simulator::Schedule(Time(0),
                                [&]()
                                {
                                    net->Nics()[0]->SendPfc(PacketKind::Pause);
                                    net->Nics()[1]->SendPfc(PacketKind::Pause);
                                });
            Simulator::Schedule(Time(100 * US), [&]() { net->Stop(); });
        }
        net->Run();
        NS_TEST_ASSERT_MSG_GT(seen.size(), 2, "frames have come");
        // The tenth frame's transmission ends after five packet times, it travels for 1 us; the feedback of
        // 102 B takes 816 ns and 1 us. No ACK is on that link then. The pause goes before the data.
        const Picos packet = IdealTime(1048, 1e9, Rounding::Exact);
        const Picos first = m_paused ? IdealTime(PFC_FRAME_BYTES, 1e9, Rounding::Exact) : 0;
        NS_TEST_EXPECT_MSG_EQ(seen[0].at, first + 5 * packet + US + 816 * PS_PER_NS + US, "when");
        NS_TEST_EXPECT_MSG_EQ((seen[0].feedback.congestionPoint >> 16), 3, "switch 3 speaks");
        NS_TEST_EXPECT_MSG_EQ((seen[0].feedback.congestionPoint & 0xffff), 2, "of its third port");
        // Ten frames in, four out and the fifth's turn at this very instant.
        const int32_t queue = seen[0].feedback.offsetBytes + 64'000;
        NS_TEST_EXPECT_MSG_EQ_TOL(queue, 5 * 1048, 1100, "the queue at that time");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(net->Context().notifications, seen.size(), "counted");
        if (!m_paused)
        {
            bool far = false;
            for (const Seen& one : seen)
            {
                far = far || one.feedback.congestionPoint >> 16 == 4;
            }
            NS_TEST_EXPECT_MSG_EQ(far, true, "the second switch's frames cross the first");
            NS_TEST_EXPECT_MSG_EQ(net->Unfinished(), 0, "and flows end");
        }
    }

    bool m_paused;
};

class SilenceTest : public TestCase
{
  public:
    SilenceTest()
        : TestCase("a switch without congestion points says nothing")
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(2, 1e9);
        AddFlow(s, 0, 2, 1'000'000);
        AddFlow(s, 1, 2, 1'000'000);
        TestNetwork net(std::move(s));
        net->Run();
        NS_TEST_EXPECT_MSG_EQ(net->Context().notifications, 0, "nothing");
    }
};

class CongestionPointTestSuite : public TestSuite
{
  public:
    CongestionPointTestSuite()
        : TestSuite("rdma-congestion-point", Type::UNIT)
    {
        AddTestCase(new FeedbackTest, Duration::QUICK);
        AddTestCase(new SamplingTest, Duration::QUICK);
        AddTestCase(new WayBackTest(false), Duration::QUICK);
        AddTestCase(new WayBackTest(true), Duration::QUICK);
        AddTestCase(new SilenceTest, Duration::QUICK);
    }
};

CongestionPointTestSuite g_congestionPointTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
