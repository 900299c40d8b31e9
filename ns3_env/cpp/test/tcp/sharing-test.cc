// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP flows on a shared link: shares, ACKs, SACK, a lost SYN, pacing.
#include "episodes.h"

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-sharing");

constexpr Picos DELAY = 20 * US;

/// A flow over a dumbbell whose links lose some packets.
Scenario
One(uint64_t bytes, double rateBps, double loss = 0)
{
    Scenario s = Dumbbell(1, rateBps, DELAY);
    s.lossProbability = loss;
    AddFlow(s, 0, 1, bytes);
    return s;
}

TEST("four flows share a link, and leave nothing of it unused")
{
    for (const char* law : {"cubic", "newreno", "dctcp"})
    {
        constexpr uint32_t SENDERS = 4;
        Scenario s = SlowMiddle(SENDERS, 10e9, 1e9, DELAY);
        AddIncast(s, SENDERS, ENDLESS_BYTES, MS);
        TcpSettings settings = ShortTimeouts(2 * MS);
        settings.queue.limit = Packets(100);
        if (law == std::string("dctcp"))
        {
            settings.queue.discipline = EcnThreshold{Packets(20)};
        }
        TestEpisode episode(s, settings, {law, {}});
        episode.RunUntil(40 * MS);
        std::vector<double> bytes;
        for (uint32_t i = 0; i < SENDERS; ++i)
        {
            bytes.push_back(-static_cast<double>(episode.Flow(i).ReceivedBytes()));
        }
        EXPECT_NEAR(episode.GoodputShare(40 * MS, 240 * MS, 1e9), 1, 0.01, law << ": together");
        double sum = 0;
        double squares = 0;
        for (uint32_t i = 0; i < SENDERS; ++i)
        {
            bytes[i] += static_cast<double>(episode.Flow(i).ReceivedBytes());
            sum += bytes[i];
            squares += bytes[i] * bytes[i];
        }
        EXPECT_GT(sum * sum / (SENDERS * squares), 0.9, law << ": Jain's index");
    }
}

TEST("an ACK is for as many segments as is said, and an end does not wait long for one")
{
    constexpr uint32_t SEGMENTS = 100;
    for (uint32_t per : {1U, 2U, 4U})
    {
        TcpSettings settings;
        settings.segmentsPerAck = per;
        settings.delayedAckTimeout = 500 * US;
        TestEpisode episode(One(SEGMENTS * 1448 + 1, 10e9), settings, {"cubic", {}});
        episode.Run();
        const uint64_t acks = episode.PortTo(1, 3).Offered() - 1;
        EXPECT_NEAR(acks, SEGMENTS / per + 1, 1, "for each " << per);
        EXPECT_LT(episode.Flow(0).EndTime(), 2 * MS, "the end");
    }
}

TEST("with SACK or without, what is lost is sent again")
{
    for (bool sack : {true, false})
    {
        TcpSettings settings = ShortTimeouts(2 * MS);
        settings.sack = sack;
        TestEpisode episode(One(2'000'000, 1e9, 0.01), settings, {"newreno", {}});
        episode.Run();
        const TcpFlow& flow = episode.Flow(0);
        EXPECT(flow.IsFinished(), "it ends");
        EXPECT_EQ(flow.ReceivedBytes(), 2'000'000, "all of it");
        EXPECT_GT(flow.RetransmittedBytes(), 0, "some was sent again");
        EXPECT_LT(flow.RetransmittedBytes(), 200'000, "but not much");
    }
}

TEST("a SYN that was lost is sent again after its timeout")
{
    uint64_t timeouts = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        Scenario s = One(1000, 1e9, 0.1);
        s.seed = seed;
        TcpSettings settings = ShortTimeouts(10 * MS, MS);
        settings.initialRto = 10 * MS;
        TestEpisode episode(s, settings, {"cubic", {}});
        episode.Run();
        const TcpFlow& flow = episode.Flow(0);
        EXPECT(flow.IsFinished(), "it ends");
        EXPECT_EQ(flow.EndTime() > 10 * MS, flow.Timeouts() > 0, "later");
        timeouts += flow.Timeouts();
    }
    EXPECT_GT(timeouts, 0, "there were some");
}

TEST("a paced window stands in no queue")
{
    const auto longestRtt = [](bool pacing) -> Picos
    {
        Scenario s = SlowMiddle(1, 10e9, 1e9, DELAY);
        AddFlow(s, 0, 1, 10 * 1448);
        TcpSettings settings;
        settings.pacing = pacing;
        TestEpisode episode(s, settings, {"cubic", {}});
        episode.Run();
        return episode.Flow(0).Rtts()->Max();
    };
    const Picos slow = IdealTime(FrameBytes(1448), 1e9, Rounding::Exact);
    EXPECT_LT(longestRtt(true), longestRtt(false) - 3 * slow, "segments of a window of ten");
}

} // namespace

} // namespace ns3::env::tcp::test
