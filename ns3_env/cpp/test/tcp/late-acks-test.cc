// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of ACKs delayed by a random time: mean, bound, order.
#include "episodes.h"

#include <cmath>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-late-acks");

constexpr double RATE = 10e9;
constexpr Picos DELAY = 100 * US;

/// RTTs of flows of one segment each, one at a time.
std::vector<Picos>
RttsOfSingleSegments(uint32_t flows, std::optional<AckNoise> noise)
{
    Scenario s = Dumbbell(1, RATE, DELAY);
    s.timeLimit = (flows + 1) * 2 * MS;
    for (uint32_t i = 0; i < flows; ++i)
    {
        AddFlow(s, 0, 1, 1448, i * 2 * MS);
    }
    TcpSettings settings = AckEach();
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
        double sum = 0;
        double most = 0;
        for (const Picos rtt : RttsOfSingleSegments(FLOWS, noise))
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

TEST("late ACKs keep their order: nothing is sent again, and the link stays full")
{
    Scenario s = Dumbbell(2, RATE, DELAY);
    AddIncast(s, 2, ENDLESS_BYTES);
    TcpSettings settings = AckEach();
    settings.sack = false; // a repeated ACK counts as a loss
    settings.queue.limit = Packets(10'000);
    settings.ackNoise = AckNoise{};
    TestEpisode episode(s, settings, {"newreno", {}});
    EXPECT_NEAR(episode.GoodputShare(20 * MS, 30 * MS, RATE), 1, 0.01, "goodput");
    EXPECT_EQ(episode.Flow(0).RetransmittedBytes() + episode.Flow(1).RetransmittedBytes(), 0, "");
}

TEST("a flow that is given up while ACKs wait leaves none behind")
{
    Scenario s = Dumbbell(1, RATE, DELAY);
    AddFlow(s, 0, 1, ENDLESS_BYTES);
    TcpSettings settings;
    settings.ackNoise = AckNoise{};
    TestEpisode episode(s, settings, {"newreno", {}});
    episode.RunUntil(5 * MS);
    EXPECT_EQ(episode.Net().Ways().Connections(), 1, "under way");
    episode.Flow(0).Abort();
    episode.RunUntil(10 * MS);
    EXPECT_EQ(episode.Net().Ways().Connections(), 0, "over");
}

} // namespace

} // namespace ns3::env::tcp::test
