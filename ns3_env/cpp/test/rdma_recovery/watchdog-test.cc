// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the PFC watchdog: when storms start and end, and which packets they cost.
#include "ns3_env/cpp/contract/traffic-class.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-watchdog");

constexpr Picos PACKET_TIME = PACKET_BYTES * 80;   // at 100 Gb/s
constexpr Picos FRAME_TIME = PFC_FRAME_BYTES * 80; // likewise
constexpr Picos APART = 10 * PACKET_TIME;          // packets of a stream at 10 Gb/s
constexpr Picos DETECTION = 50 * US;
constexpr Picos RESTORATION = 30 * US;

/// A stream of 10 Gb/s from host 0 to host 2, which pauses switch 4, in one of two classes or the only one.
struct Storm
{
    Storm(bool classes, bool forwards, Picos streamStart, Picos pause, Picos resume)
    {
        Scenario s = Exact(2, {{1, 0, 1, 400 * US}}); // an episode has a flow
        s.watchdog = {DETECTION, RESTORATION, forwards};
        AddStream(s, 0, 2, 10e9, streamStart, 300 * US);
        AddStream(s, 1, 2, 10e9, 0, 300 * US);
        for (const char* name : {"a", "b"})
        {
            if (classes)
            {
                s.classes.emplace_back();
                s.classes.back().name = name;
            }
        }
        s.streams[1].flow.trafficClass = classes ? 1 : 0;
        s.streams.resize(classes ? 2 : 1);
        TestNetwork net(std::move(s));
        for (const auto& [time, kind] :
             {std::pair{pause, PacketKind::Pause}, {resume, PacketKind::Resume}})
        {
            At(time, [&, kind = kind] { net->Nics()[2]->SendPfc(kind); });
        }
        net->Run();
        const SwitchPort& port = net.PortTo(4, 2);
        storms = port.PauseStorms();
        duration = port.StormTime(NowPicos());
        paused = port.PausedTime(NowPicos());
        lost = port.Lost().By(LossCause::PauseStorm);
        counts = net->CountsOf(0);
        EXPECT_EQ(net->Context().droppedPackets, lost.packets, "no other losses");
        EXPECT_EQ(counts.sent, counts.received + counts.lost, "bytes are conserved");
        EXPECT_EQ(counts.lost, lost.payloadBytes, "of this stream");
        if (classes)
        {
            EXPECT_EQ(net->CountsOf(1).lost, 0, "the other class loses nothing");
        }
    }

    uint64_t storms;
    Picos duration;
    Picos paused;
    Losses lost;
    StreamCounts counts;
};

/// Packets of a stream from time 0 that have arrived at its second switch by then.
uint64_t
ArrivedBy(Picos time)
{
    return static_cast<uint64_t>((time - 2 * (PACKET_TIME + US)) / APART) + 1;
}

/// From the pause on packets wait, which are lost at its detection; after it all that arrive until the restoration.
TEST("a storm costs what arrives from its pause to its restoration, and no more")
{
    for (const bool classes : {false, true})
    {
        const Case about(classes ? "two classes" : "one class");
        const Storm storm(classes, false, 0, 20 * US, 150 * US);
        const Picos begin = 20 * US + FRAME_TIME + US;
        const Picos end = 150 * US + FRAME_TIME + US;
        EXPECT_EQ(storm.storms, 1, "storms");
        EXPECT_EQ(storm.duration, end + RESTORATION - begin - DETECTION, "their duration");
        EXPECT_EQ(storm.paused, end - begin, "the pause");
        EXPECT_EQ(storm.lost.packets, ArrivedBy(end + RESTORATION) - ArrivedBy(begin), "lost");
    }
}

TEST("a watchdog that forwards ends the pause at its detection, and loses nothing")
{
    for (const bool classes : {false, true})
    {
        const Storm storm(classes, true, 0, 20 * US, 150 * US);
        EXPECT_EQ(Row(storm.storms, storm.paused, storm.lost.packets),
                  Row(1, DETECTION, 0),
                  "storms, pause, lost");
        EXPECT_EQ(storm.duration, 130 * US + RESTORATION - DETECTION, "duration");
    }
}

TEST("a short pause is no storm, and without packets that wait a long one is none")
{
    const Storm brief(false, false, 0, 20 * US, 20 * US + DETECTION - NS);
    EXPECT_EQ(Row(brief.storms, brief.lost.packets),
              Row(0, 0),
              "a nanosecond less than the detection time");
    const Storm idle(false, false, 200 * US, 20 * US, 190 * US);
    EXPECT_EQ(Row(idle.storms, idle.lost.packets), Row(0, 0), "nothing waits");
    // The watchdog looks every 50 us: at 171 us for the third time.
    const Storm later(false, false, 130 * US, 20 * US, 250 * US);
    EXPECT_EQ(later.storms, 1, "something waits at the third look");
    EXPECT_EQ(later.duration, 230 * US + RESTORATION - 3 * DETECTION, "duration");
}

} // namespace

} // namespace ns3::env::rdma::test
