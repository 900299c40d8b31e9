// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of congestion points (802.1Qau): samples, feedback, and a frame's reverse path.
#include "test-network.h"

#include "ns3/rng-seed-manager.h"
#include "ns3_env/cpp/rdma/switch/switch.h"
#include "ns3_env/cpp/test/suite.h"

#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-congestion-point");

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

/// Frames until the next sample of a queue of constant `queueBytes`, and the sample's feedback.
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
TEST("feedback: offset and change in units of 64 B, -Fb in 63 levels of q0 (2 w + 1)")
{
    OneStream random;
    CongestionPoint point{Regular(10e3), 7, random};
    const auto expect = [&](uint64_t queue, int32_t offset, int32_t delta, int level)
    {
        const auto feedback = NextSample(point, queue).second;
        ASSERT(feedback.has_value(), "a sample");
        EXPECT_EQ(feedback->offsetBytes, offset, "Q_off");
        EXPECT_EQ(feedback->deltaBytes, delta, "dQ");
        EXPECT_EQ(int{feedback->quantised}, level, "level");
        EXPECT_EQ(feedback->congestionPoint, 7, "who speaks");
    };

    expect(100'000, 36'032, 100'032, 46); // (36000 + 2 * 100000) / 320000 * 63 = 46.5
    expect(100'000, 36'032, 0, 7);        // 36000 / 320000 * 63 = 7.1
    expect(64'000, 0, -36'032, 0);        // falling to the target: Fb > 0
    expect(1'064, -62'912, -62'912, 0);
    expect(10'000'000, 2'097'088, 2'097'088, 63); // the largest value of 16 bits in units of 64 B
}

TEST("samples: by bytes, faster as -Fb grows, with 15 % of jitter, or by probability")
{
    OneStream random;
    CongestionPoint regular(Regular(100e3), 0, random);
    EXPECT_EQ(NextSample(regular, 1000).first, 100, "each 100 kB");
    EXPECT_EQ(NextSample(regular, 1000).first, 100, "and again");

    // The table of IEEE 802.1Q, 32.9.2: the interval after a level of 8 i, in kB. The queue is constant, so that only
    // its offset makes the level.
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
        EXPECT_EQ(NextSample(point, queue).first, table[i], "level 8 i");
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
    EXPECT_NEAR(least, 86, 1, "down to 85 kB");
    EXPECT_NEAR(most, 115, 1, "up to 115 kB");
    EXPECT_NEAR(sum / 1000.0, 100.5, 1.5, "100 kB in the mean, in whole frames");

    CongestionPointConfig likely = Regular(1.0);
    likely.sampleProbability = 0.01;
    CongestionPoint dice(likely, 0, random);
    sum = 0;
    for (int i = 0; i < 1000; ++i)
    {
        sum += NextSample(dice, 1000).first;
    }
    EXPECT_NEAR(sum / 1000.0, 100, 10, "p = 0.01: each hundredth in the mean");

    CongestionPointConfig negative = Regular(10e3);
    negative.negativeOnly = true;
    CongestionPoint silent(negative, 0, random);
    EXPECT(NextSample(silent, 60'000, 10).second.has_value(), "below the target, but growing fast");
    EXPECT_EQ(NextSample(silent, 63'000, 1000).second.has_value(),
              false,
              "below the target: nothing is said");
}

/// Two senders fill the link from switch 3 to switch 4; each tenth frame is a sample.
void
WayBack(bool paused)
{
    const Case about(paused ? "a feedback frame passes a paused port"
                            : "a feedback frame takes its link's time to the data's source");
    struct Seen
    {
        uint32_t host;
        Picos at;
        QueueFeedback feedback;
    };

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
    if (paused)
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
    ASSERT_GT(seen.size(), 2, "frames have come");
    // The tenth frame's transmission ends after five packet times, it travels for 1 us; the feedback of
    // 102 B needs 816 ns and 1 us. No ACK is on that link then. The pause precedes the data.
    const Picos packet = IdealTime(1048, 1e9, Rounding::Exact);
    const Picos first = paused ? IdealTime(PFC_FRAME_BYTES, 1e9, Rounding::Exact) : 0;
    EXPECT_EQ(seen[0].at, first + 5 * packet + US + 816 * PS_PER_NS + US, "when");
    EXPECT_EQ(seen[0].feedback.congestionPoint >> 16, 3, "switch 3 speaks");
    EXPECT_EQ(seen[0].feedback.congestionPoint & 0xffff, 2, "of its third port");
    // Ten frames in, four out and the fifth's turn at this very instant.
    const int32_t queue = seen[0].feedback.offsetBytes + 64'000;
    EXPECT_NEAR(queue, 5 * 1048, 1100, "the queue at that time");
    EXPECT_GE(net->Context().notifications, seen.size(), "counted");
    if (!paused)
    {
        bool far = false;
        for (const Seen& one : seen)
        {
            far = far || one.feedback.congestionPoint >> 16 == 4;
        }
        EXPECT(far, "the second switch's frames cross the first");
        EXPECT_EQ(net->Unfinished(), 0, "and flows end");
    }
}

TEST("a switch without congestion points says nothing")
{
    Scenario s = Dumbbell(2, 1e9);
    AddFlow(s, 0, 2, 1'000'000);
    AddFlow(s, 1, 2, 1'000'000);
    TestNetwork net(std::move(s));
    net->Run();
    EXPECT_EQ(net->Context().notifications, 0, "nothing");
}

TEST("a feedback frame takes its link's time to the data's source, and passes a paused port")
{
    WayBack(false);
    WayBack(true);
}

} // namespace

} // namespace ns3::env::rdma::test
