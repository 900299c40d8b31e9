// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP flows: base RTT, a full buffer's RTT, standalone time, late ACKs, caps.
#include "episodes.h"

#include <cmath>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-flow");

constexpr double RATE = 10e9;
constexpr Picos DELAY = 5 * US;
constexpr uint32_t LINKS = 3;       ///< of the dumbbell's path
constexpr uint32_t SYN_OPTIONS = 8; ///< bytes: window scale, SACK permitted

Picos
Frame(uint64_t payload, double rate = RATE)
{
    return IdealTime(FrameBytes(payload), rate, Rounding::Exact);
}

/// A flow over a dumbbell.
Scenario
One(uint64_t bytes, double middleBps = RATE, Picos start = 0)
{
    Scenario s = SlowMiddle(1, RATE, middleBps, DELAY);
    AddFlow(s, 0, 1, bytes, start);
    return s;
}

TEST("the first RTT is propagation and serialisation, to the picosecond")
{
    for (const char* law : LAWS)
    {
        const Case about(law);
        TcpSettings settings = AckEach();
        settings.initialWindowSegments = 1;
        TestEpisode episode(One(2 * 1448, RATE, 3 * US), settings, {law, {}});
        episode.Run();
        const TcpFlow& flow = episode.Flow(0);
        const Picos base = LINKS * (2 * DELAY + Frame(1448) + Frame(0));
        EXPECT_EQ(flow.Rtts()->Count(), 2, "one segment after another");
        EXPECT_EQ(flow.Rtts()->First(), base + Frame(0), "behind the handshake's last ACK");
        EXPECT_EQ(flow.Rtts()->Last(), base, "alone");
        EXPECT(flow.IsFinished(), "it ends");
        EXPECT_EQ(flow.AckedBytes(), 2 * 1448, "acknowledged");
        EXPECT_EQ(flow.ReceivedBytes(), 2 * 1448, "received");
        // SYN and SYN-ACK, which have options, go before.
        const Picos handshake = LINKS * (2 * DELAY + 2 * Frame(SYN_OPTIONS));
        const Picos end = 3 * US + handshake + 2 * base + Frame(0);
        // BBR assumes an RTT of 1 ms before it has a sample.
        EXPECT(flow.Sender().IsPaced() || flow.EndTime() == end, "the end");
    }
}

TEST("a full buffer adds its packets' serialisation to the RTT, to the picosecond")
{
    constexpr uint32_t BUFFER = 60;
    constexpr double SLOW = 1e9;
    TcpSettings settings = AckEach();
    settings.queue.limit = Packets(BUFFER);
    TestEpisode episode(One(ENDLESS_BYTES, SLOW), settings, {"newreno", {}});
    const TcpFlow& flow = episode.Flow(0);
    Picos longest = 0; // before any retransmission: waiting for one is no queueing delay
    flow.Sender().SetRttCallback(
        [&](Picos rtt)
        { longest = flow.RetransmittedBytes() > 0 ? longest : std::max(longest, rtt); });
    episode.RunUntil(50 * MS);
    const Picos slow = Frame(1448, SLOW);
    const Picos base = 2 * LINKS * DELAY + 2 * (Frame(1448) + Frame(0)) + slow + Frame(0, SLOW);
    // A packet in the last place waits for all others, also the one in the device, and for the rest of the packet in
    // transmission: segments arrive a round trip after one before them has left.
    const Picos rest = slow - (base - slow) % slow;
    EXPECT_EQ(flow.Rtts()->First(), base + Frame(0), "without a queue");
    EXPECT_EQ(longest, base + BUFFER * slow + rest, "with a full one");
    EXPECT_GT(flow.RetransmittedBytes(), 0, "the buffer has overflowed");
    EXPECT_EQ(flow.Timeouts(), 0, "what was lost came by fast retransmission");
}

TEST("a message alone whose window holds it takes the standalone time, and none takes less")
{
    for (const uint64_t bytes : {1ULL, 1448ULL, 1449ULL, 100'000ULL, 1'000'003ULL})
    {
        for (const double middle : {RATE, 0.4 * RATE})
        {
            Picos standalone{0};
            const auto duration = [&](uint32_t window) -> Picos
            {
                TcpSettings settings = AckEach();
                settings.queue.limit = Packets(1000);
                settings.initialWindowSegments = window;
                TestEpisode episode(One(bytes, middle, US), settings, {"newreno", {}});
                episode.Run();
                standalone = episode.Flow(0).Standalone();
                return episode.Flow(0).EndTime() - US;
            };
            const Picos whole = duration(1000);
            // The last ACK may find the one before still at the middle, which is no data's doing.
            EXPECT_GE(whole, standalone, bytes << " B at once");
            EXPECT_LT(whole, standalone + Frame(0, middle), bytes << " B");
            EXPECT_GE(duration(2), whole, bytes << " B");
        }
    }
}

TEST("the last byte does not wait for a second one, however long ACKs are delayed")
{
    TcpSettings settings;
    settings.segmentsPerAck = 2;
    settings.delayedAckTimeout = 40 * MS;
    TestEpisode episode(One(4 * 1448), settings, {"newreno", {}}); // the first ACK comes at once
    episode.Run();
    EXPECT_EQ(episode.Flow(0).EndTime(), episode.Flow(0).Standalone(), "no wait");
}

constexpr Picos FAR = 100 * US;

/// RTTs of flows of one segment each, one at a time.
std::vector<Picos>
RttsOfSingleSegments(uint32_t flows, std::optional<AckNoise> noise)
{
    Scenario s = Dumbbell(1, RATE, FAR);
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

TEST("ACKs are late by an exponential time of the mean that is asked for, and by no more than the "
     "most")
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
    Scenario s = Dumbbell(2, RATE, FAR);
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
    Scenario s = Dumbbell(1, RATE, FAR);
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

TEST("rttmpc flows keep caps that fit the link, without a queue")
{
    constexpr double SLOW = 100e6;
    constexpr Picos BEGIN = 1000 * MS;
    constexpr Picos END = 3000 * MS;
    const std::vector<double> caps{20e6, 50e6, 0.5e6}; // the last: less than a packet per RTT
    Scenario s = SlowMiddle(3, 10 * SLOW, SLOW, 5 * MS);
    s.measurement = {BEGIN, END};
    s.controllers.clear();
    AddIncast(s, 3, ENDLESS_BYTES);
    for (uint32_t i = 0; i < 3; ++i)
    {
        s.controllers.push_back({"rttmpc",
                                 {{"InitialRate", std::to_string(caps[i] / 2) + "bps"},
                                  {"MinRate", "100kb/s"},
                                  {"MaxRate", std::to_string(caps[i]) + "bps"}}});
        s.flows[i].controller = i;
    }
    TestEpisode episode(s, AckEach(), s.controllers[0]);
    episode.RunUntil(BEGIN);
    std::vector<uint64_t> before;
    for (uint32_t i = 0; i < 3; ++i)
    {
        before.push_back(episode.Flow(i).ReceivedBytes());
    }
    episode.RunUntil(END);
    for (uint32_t i = 0; i < 3; ++i)
    {
        const auto bytes = static_cast<double>(episode.Flow(i).ReceivedBytes() - before[i]);
        const double seconds = static_cast<double>(END - BEGIN) / PS_PER_SECOND;
        EXPECT_NEAR(bytes * 8 / seconds / caps[i], 1, 0.02, "flow " << i);
    }
    episode.Net().FinishQueues(END);
    EXPECT_LT(episode.PortTo(4, 5).Stats()->Mean(), 2 * 1500, "the queue");
}

} // namespace

} // namespace ns3::env::tcp::test
