// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of ACKs delayed by a random time: mean, bound, order, seeds.
#include "episodes.h"

#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-late-acks");

constexpr double RATE = 10e9;
constexpr Picos DELAY = 100 * PS_PER_US;

/// RTTs of flows of one segment each, one at a time.
std::vector<Picos>
RttsOfSingleSegments(uint32_t flows, std::optional<AckNoise> noise, uint32_t seed = 1)
{
    Scenario s = Dumbbell(1, RATE, DELAY);
    s.seed = seed;
    s.timeLimit = (flows + 1) * 2 * PS_PER_MS;
    for (uint32_t i = 0; i < flows; ++i)
    {
        AddFlow(s, 0, 1, 1448, i * 2 * PS_PER_MS);
    }
    TcpSettings settings;
    settings.segmentsPerAck = 1;
    settings.ackNoise = noise;
    TestEpisode episode(s, settings, {"newreno", {}});
    episode.Run();
    std::vector<Picos> rtts;
    for (uint32_t i = 0; i < flows; ++i)
    {
        EXPECT_EQ(episode.Flow(i).Rtts()->Count(), 1, "one segment, one RTT");
        rtts.push_back(episode.Flow(i).Rtts()->Last());
    }
    return rtts;
}

TEST("ACKs are late by an exponential time of the mean that is asked for, and by no more than "
     "the most")
{
    constexpr uint32_t FLOWS = 2000;
    const double base = static_cast<double>(RttsOfSingleSegments(1, std::nullopt).front());
    for (const AckNoise noise : {AckNoise{}, AckNoise{.meanRtts = 0.02, .mostRtts = 0.03}})
    {
        const std::vector<Picos> rtts = RttsOfSingleSegments(FLOWS, noise);
        double sum = 0;
        double most = 0;
        for (const Picos rtt : rtts)
        {
            const double late = static_cast<double>(rtt) / base - 1;
            EXPECT_GT(late, 0, "none is early");
            sum += late;
            most = std::max(most, late);
        }
        // Of an exponential variable below a bound b the mean is m - b / (exp(b / m) - 1).
        const double odds = std::expm1(noise.mostRtts / noise.meanRtts);
        const double mean = noise.meanRtts - noise.mostRtts / odds;
        EXPECT_NEAR(sum / FLOWS, mean, 0.07 * mean, "mean");
        EXPECT(most <= noise.mostRtts, "most");
        EXPECT_GT(most, 0.6 * noise.mostRtts, "the distribution's tail is there");
    }
}

TEST("late ACKs: the same seed has the same bits, another one others")
{
    const auto first = RttsOfSingleSegments(20, AckNoise{});
    EXPECT(first == RttsOfSingleSegments(20, AckNoise{}), "the same seed");
    EXPECT(first != RttsOfSingleSegments(20, AckNoise{}, 2), "another seed");
}

TEST("late ACKs keep their order: nothing is sent again, and the link stays full")
{
    Scenario s = Dumbbell(2, RATE, DELAY);
    AddFlow(s, 0, 2, ENDLESS_BYTES);
    AddFlow(s, 1, 2, ENDLESS_BYTES);
    TcpSettings settings;
    settings.segmentsPerAck = 1;
    settings.sack = false; // a repeated ACK counts as a loss
    settings.queue.limit = {10'000, QueueLength::Unit::Packets};
    settings.ackNoise = AckNoise{};
    TestEpisode episode(s, settings, {"newreno", {}});
    episode.RunUntil(20 * PS_PER_MS);
    const uint64_t before = episode.Flow(0).ReceivedBytes() + episode.Flow(1).ReceivedBytes();
    episode.RunUntil(30 * PS_PER_MS);
    const uint64_t after = episode.Flow(0).ReceivedBytes() + episode.Flow(1).ReceivedBytes();
    const double possible = 10e-3 * RATE * 1448 / static_cast<double>(FrameBytes(1448)) / 8;
    EXPECT_NEAR(static_cast<double>(after - before), possible, 0.01 * possible, "goodput");
    for (size_t i = 0; i < episode.Flows(); ++i)
    {
        EXPECT_EQ(episode.Flow(i).RetransmittedBytes(), 0, "flow " << i);
    }
}

TEST("a flow that is given up while ACKs wait leaves none behind")
{
    Scenario s = Dumbbell(1, RATE, DELAY);
    AddFlow(s, 0, 1, ENDLESS_BYTES);
    TcpSettings settings;
    settings.ackNoise = AckNoise{};
    TestEpisode episode(s, settings, {"newreno", {}});
    episode.RunUntil(5 * PS_PER_MS);
    EXPECT_EQ(episode.Net().Ways().Connections(), 1, "under way");
    episode.Flow(0).Abort();
    episode.RunUntil(10 * PS_PER_MS);
    EXPECT_EQ(episode.Net().Ways().Connections(), 0, "over");
}

} // namespace

} // namespace ns3::env::tcp::test
