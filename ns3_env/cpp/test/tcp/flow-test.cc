// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a single TCP flow: base RTT, goodput, a full buffer's RTT, standalone time.
#include "episodes.h"

#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-flow");

constexpr double RATE = 10e9;
constexpr Picos DELAY = 5 * PS_PER_US;
constexpr uint32_t LINKS = 3;       ///< of the dumbbell's path
constexpr uint32_t SYN_OPTIONS = 8; ///< bytes: window scale, SACK permitted

Picos
Frame(uint64_t payload, double rate = RATE)
{
    return IdealTime(FrameBytes(payload), rate, Rounding::Exact);
}

TEST("the first RTT is propagation and serialisation, to the picosecond")
{
    for (const char* controller : {"newreno", "cubic", "dctcp", "bbr"})
    {
        Scenario s = Dumbbell(1, RATE, DELAY);
        AddFlow(s, 0, 1, 2 * 1448, 3 * PS_PER_US);
        TcpSettings settings;
        settings.initialWindowSegments = 1;
        settings.segmentsPerAck = 1;
        TestEpisode episode(s, settings, {controller, {}});
        episode.Run();
        const TcpFlow& flow = episode.Flow(0);
        const Picos base = LINKS * (2 * DELAY + Frame(1448) + Frame(0));
        EXPECT_EQ(flow.Rtts()->Count(), 2, controller << ": one segment after another");
        EXPECT_EQ(flow.Rtts()->First(),
                  base + Frame(0),
                  controller << ": behind the handshake's last ACK");
        EXPECT_EQ(flow.Rtts()->Last(), base, controller << ": alone");
        EXPECT(flow.IsFinished(), controller << ": it ends");
        EXPECT_EQ(flow.AckedBytes(), 2 * 1448, controller << ": acknowledged");
        EXPECT_EQ(flow.ReceivedBytes(), 2 * 1448, controller << ": received");
        if (flow.Sender().IsPaced())
        {
            continue; // BBR assumes an RTT of 1 ms before it has a sample
        }
        // SYN and SYN-ACK, which have options, go before.
        const Picos handshake = LINKS * (2 * DELAY + 2 * Frame(SYN_OPTIONS));
        EXPECT_EQ(flow.EndTime(),
                  3 * PS_PER_US + handshake + 2 * base + Frame(0),
                  controller << ": the end");
    }
}

TEST("a flow alone has the link's rate, less the headers")
{
    for (const char* controller : {"newreno", "cubic", "dctcp", "bbr"})
    {
        Scenario s = Dumbbell(1, RATE, DELAY);
        AddFlow(s, 0, 1, ENDLESS_BYTES);
        TcpSettings settings;
        settings.queue.limit = {1000, QueueLength::Unit::Packets};
        TestEpisode episode(s, settings, {controller, {}});
        episode.RunUntil(1 * PS_PER_MS);
        const uint64_t before = episode.Flow(0).ReceivedBytes();
        episode.RunUntil(5 * PS_PER_MS);
        const auto bits = static_cast<double>(episode.Flow(0).ReceivedBytes() - before) * 8;
        const double possible = 4e-3 * RATE * 1448 / static_cast<double>(FrameBytes(1448));
        // BBR drains its queue now and then, to measure the base RTT.
        const double tolerance = episode.Flow(0).Sender().IsPaced() ? 0.05 : 1e-3;
        EXPECT_NEAR(bits, possible, possible * tolerance, controller);
    }
}

TEST("a full buffer adds its packets' serialisation to the RTT, to the picosecond")
{
    constexpr uint32_t BUFFER = 60;
    constexpr double SLOW = 1e9;
    Scenario s = SlowMiddle(1, RATE, SLOW, DELAY);
    AddFlow(s, 0, 1, ENDLESS_BYTES);
    TcpSettings settings;
    settings.segmentsPerAck = 1;
    settings.queue.limit = {BUFFER, QueueLength::Unit::Packets};
    TestEpisode episode(s, settings, {"newreno", {}});
    const TcpFlow& flow = episode.Flow(0);
    Picos longest = 0; // before any retransmission: waiting for one is no queueing delay
    flow.Sender().SetRttCallback(
        [&](Picos rtt)
        { longest = flow.RetransmittedBytes() > 0 ? longest : std::max(longest, rtt); });
    episode.RunUntil(50 * PS_PER_MS);
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
    Picos standalone{0};
    const auto duration = [&](const Scenario& s, TcpSettings settings, uint32_t window) -> Picos
    {
        settings.initialWindowSegments = window;
        TestEpisode episode(s, settings, {"newreno", {}});
        episode.Run();
        standalone = episode.Flow(0).Standalone();
        return episode.Flow(0).EndTime() - PS_PER_US;
    };

    for (const uint64_t bytes : {1ULL, 1448ULL, 1449ULL, 100'000ULL, 1'000'003ULL})
    {
        for (const double middle : {RATE, 0.4 * RATE})
        {
            Scenario s = SlowMiddle(1, RATE, middle, DELAY);
            AddFlow(s, 0, 1, bytes, PS_PER_US);
            TcpSettings settings;
            settings.segmentsPerAck = 1;
            settings.queue.limit = {1000, QueueLength::Unit::Packets};
            const Picos whole = duration(s, settings, 1000);
            // The last ACK may find the one before still at the middle, which is no data's doing.
            EXPECT_GE(whole, standalone, bytes << " B at once");
            EXPECT_LT(whole, standalone + Frame(0, middle), bytes << " B");
            EXPECT_GE(duration(s, settings, 2), whole, bytes << " B");
        }
    }
}

TEST("the last byte does not wait for a second one, however long ACKs are delayed")
{
    Scenario s = Dumbbell(1, RATE, DELAY);
    AddFlow(s, 0, 1, 4 * 1448); // ns-3 acknowledges the first at once
    TcpSettings settings;
    settings.segmentsPerAck = 2;
    settings.delayedAckTimeout = 40 * PS_PER_MS;
    TestEpisode episode(s, settings, {"newreno", {}});
    episode.Run();
    EXPECT_EQ(episode.Flow(0).EndTime(), episode.Flow(0).Standalone(), "no wait");
}

} // namespace

} // namespace ns3::env::tcp::test
