// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP flows on a shared link: shares, ACKs, SACK, a lost SYN, pacing.
#include "episodes.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/test/suite.h"

#include <array>
#include <string>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-sharing");

constexpr Picos DELAY = 20 * PS_PER_US;

TEST("four flows share a link, and leave nothing of it unused")
{
    const auto share = [&](const std::string& controller, const QueueSettings& queue)
    {
        constexpr uint32_t SENDERS = 4;
        constexpr double RATE = 1e9;
        constexpr Picos BEGIN = 40 * PS_PER_MS;
        constexpr Picos END = 240 * PS_PER_MS;
        Scenario s = SlowMiddle(SENDERS, 10e9, RATE, DELAY);
        AddIncast(s, SENDERS, ENDLESS_BYTES, PS_PER_MS);
        TcpSettings settings;
        settings.delayedAckTimeout = 200 * PS_PER_US;
        settings.minRto = 2 * PS_PER_MS;
        settings.queue = queue;
        TestEpisode episode(s, settings, {controller, {}});
        episode.RunUntil(BEGIN);
        std::array<double, SENDERS> bits{};
        for (uint32_t i = 0; i < SENDERS; ++i)
        {
            bits[i] = -8.0 * static_cast<double>(episode.Flow(i).ReceivedBytes());
        }
        episode.RunUntil(END);
        double sum = 0;
        double squares = 0;
        for (uint32_t i = 0; i < SENDERS; ++i)
        {
            bits[i] += 8.0 * static_cast<double>(episode.Flow(i).ReceivedBytes());
            sum += bits[i];
            squares += bits[i] * bits[i];
        }
        const double possible = RATE * 0.2 * 1448 / static_cast<double>(FrameBytes(1448));
        EXPECT_NEAR(sum, possible, 0.01 * possible, controller << ": all together");
        EXPECT_GT(sum * sum / (SENDERS * squares), 0.9, controller << ": Jain's index");
    };

    const QueueLength limit{100, QueueLength::Unit::Packets};
    share("cubic", {limit, DropTail{}});
    share("newreno", {limit, DropTail{}});
    share("dctcp", {limit, EcnThreshold{{20, QueueLength::Unit::Packets}}});
}

TEST("an ACK is for as many segments as is said, and an end does not wait long for one")
{
    constexpr uint32_t SEGMENTS = 100;
    for (uint32_t per : {1U, 2U, 4U})
    {
        Scenario s = Dumbbell(1, 10e9, DELAY);
        AddFlow(s, 0, 1, SEGMENTS * 1448 + 1);
        TcpSettings settings;
        settings.segmentsPerAck = per;
        settings.delayedAckTimeout = 500 * PS_PER_US;
        TestEpisode episode(s, settings, {"cubic", {}});
        episode.Run();
        const uint32_t acks =
            static_cast<uint32_t>(episode.Net().EgressTo(1, 3).egress->Offered()) - 1;
        EXPECT_NEAR(acks, SEGMENTS / per + 1, 1, "for each " << per);
        EXPECT_LT(episode.Flow(0).EndTime(), 2 * PS_PER_MS, "the end");
    }
}

TEST("with SACK or without, what is lost is sent again")
{
    for (bool sack : {true, false})
    {
        Scenario s = Dumbbell(1, 1e9, DELAY);
        s.lossProbability = 0.01;
        AddFlow(s, 0, 1, 2'000'000);
        TcpSettings settings;
        settings.delayedAckTimeout = 200 * PS_PER_US;
        settings.sack = sack;
        settings.minRto = 2 * PS_PER_MS;
        TestEpisode episode(s, settings, {"newreno", {}});
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
        Scenario s = Dumbbell(1, 1e9, DELAY);
        s.lossProbability = 0.1;
        s.seed = seed;
        AddFlow(s, 0, 1, 1000);
        TcpSettings settings;
        settings.delayedAckTimeout = PS_PER_MS;
        settings.minRto = 10 * PS_PER_MS;
        settings.initialRto = 10 * PS_PER_MS;
        TestEpisode episode(s, settings, {"cubic", {}});
        episode.Run();
        const TcpFlow& flow = episode.Flow(0);
        EXPECT(flow.IsFinished(), "it ends");
        EXPECT_EQ(flow.EndTime() > 10 * PS_PER_MS, flow.Timeouts() > 0, "later");
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
    const Picos burst = longestRtt(false);
    EXPECT_LT(longestRtt(true), burst - 3 * slow, "segments of a window of ten");
}

} // namespace

} // namespace ns3::env::tcp::test
