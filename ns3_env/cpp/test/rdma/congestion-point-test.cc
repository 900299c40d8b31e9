// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of congestion points (802.1Qau): samples, feedback, and a frame's reverse path.
#include "test-network.h"

#include "ns3_env/cpp/rdma/switch/switch.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-congestion-point");

constexpr uint32_t FRAME = 1000;

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
        EXPECT_EQ(Row(feedback->offsetBytes, feedback->deltaBytes, feedback->quantised),
                  Row(offset, delta, level),
                  "Q_off, dQ, level");
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
    double level = 0;
    for (const uint32_t kilobytes : {150, 75, 50, 38, 30, 25, 22, 19})
    {
        CongestionPointConfig config = Regular(150e3);
        config.adaptiveSampling = true;
        CongestionPoint point(config, 0, random);
        const auto queue = static_cast<uint64_t>(64e3 + (level + 1) * 320e3 / 63);
        NextSample(point, queue); // from an empty queue
        NextSample(point, queue);
        EXPECT_EQ(NextSample(point, queue).first, kilobytes, "level " << level);
        level += 8;
    }

    const auto thousand = [&](const CongestionPointConfig& config)
    {
        CongestionPoint point(config, 0, random);
        NextSample(point, 1000);
        std::vector<double> frames(1000);
        std::ranges::generate(frames, [&] { return NextSample(point, 1000).first; });
        const auto [least, most] = std::ranges::minmax(frames);
        double sum = 0;
        for (const double each : frames)
        {
            sum += each;
        }
        return std::array{least, most, sum / 1000};
    };
    CongestionPointConfig jittery = Regular(100e3);
    jittery.sampleJitter = 0.15;
    const auto [least, most, mean] = thousand(jittery);
    EXPECT_NEAR(least, 86, 1, "down to 85 kB");
    EXPECT_NEAR(most, 115, 1, "up to 115 kB");
    EXPECT_NEAR(mean, 100.5, 1.5, "100 kB in the mean, in whole frames");
    CongestionPointConfig likely = Regular(1.0);
    likely.sampleProbability = 0.01;
    EXPECT_NEAR(thousand(likely)[2], 100, 10, "p = 0.01: each hundredth in the mean");

    CongestionPointConfig negative = Regular(10e3);
    negative.negativeOnly = true;
    CongestionPoint silent(negative, 0, random);
    EXPECT(NextSample(silent, 60'000, 10).second.has_value(), "below the target, but growing fast");
    EXPECT(!NextSample(silent, 63'000, 1000).second.has_value(), "below the target");
}

/// Two senders fill the link from switch 3 to switch 4; each tenth frame is a sample.
TEST("a feedback frame takes its link's time to the data's source, and passes a paused port")
{
    for (const bool paused : {false, true})
    {
        const Case about(paused ? "paused" : "not paused");
        Scenario s = Dumbbell(2, 1e9);
        s.published = false;
        s.congestionPoints = Regular(10e3);
        AddIncast(s, 2, 100'000);
        TestNetwork net(std::move(s));
        std::vector<std::pair<Picos, QueueFeedback>> seen;
        const auto onRx = [&seen](const Packet& packet)
        {
            if (packet.kind == PacketKind::Notification)
            {
                seen.emplace_back(NowPicos(), packet.feedback);
            }
        };
        for (const uint32_t host : {0U, 1U})
        {
            Trace(*net->Nics()[host], "Rx", onRx);
            if (paused)
            {
                At(0, [&net, host] { net->Nics()[host]->SendPfc(PacketKind::Pause); });
                At(100 * US, [&] { net->Stop(); });
            }
        }
        net->Run();
        ASSERT_GT(seen.size(), 2, "frames have come");
        // The tenth frame's transmission ends after five packet times, it travels for 1 us; the feedback of
        // 102 B needs 816 ns and 1 us. No ACK is on that link then. The pause precedes the data.
        const Picos packet = IdealTime(1048, 1e9, Rounding::Exact);
        const Picos first = paused ? IdealTime(PFC_FRAME_BYTES, 1e9, Rounding::Exact) : 0;
        EXPECT_EQ(seen[0].first, first + 5 * packet + US + 816 * NS + US, "when");
        EXPECT_EQ(seen[0].second.congestionPoint, 3 << 16 | 2, "switch 3, of its third port");
        // Ten frames in, four out and the fifth's turn at this very instant.
        EXPECT_NEAR(seen[0].second.offsetBytes + 64'000, 5 * 1048, 1100, "the queue");
        EXPECT_GE(net->Context().notifications, seen.size(), "counted");
        const auto isFar = [](const auto& x) { return x.second.congestionPoint >> 16 == 4; };
        EXPECT(paused || std::ranges::any_of(seen, isFar), "the second switch's cross the first");
        EXPECT(paused || net->Unfinished() == 0, "and flows end");
    }
}

TEST("a switch without congestion points says nothing")
{
    Scenario s = Dumbbell(2, 1e9);
    AddIncast(s, 2, 1'000'000);
    Played net(std::move(s));
    EXPECT_EQ(net->Context().notifications, 0, "nothing");
}

} // namespace

} // namespace ns3::env::rdma::test
