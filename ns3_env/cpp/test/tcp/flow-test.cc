// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a single TCP flow: base RTT, goodput, a full buffer's RTT, standalone time.
#include "episodes.h"

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

TEST("a flow alone has the link's rate, less the headers")
{
    for (const char* law : LAWS)
    {
        TcpSettings settings;
        settings.queue.limit = Packets(1000);
        TestEpisode episode(One(ENDLESS_BYTES), settings, {law, {}});
        // BBR drains its queue now and then, to measure the base RTT.
        const double tolerance = episode.Flow(0).Sender().IsPaced() ? 0.05 : 1e-3;
        EXPECT_NEAR(episode.GoodputShare(MS, 5 * MS, RATE), 1, tolerance, law);
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

TEST("a message alone whose window holds it takes the standalone time, and none "
     "takes less")
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

} // namespace

} // namespace ns3::env::tcp::test
