// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the RDMA network: empty queues, pauses and their headroom, losses and recovery.
#include "test-network.h"

#include "ns3_env/cpp/rdma/published/rules.h"
#include "ns3_env/cpp/rdma/switch/shared-buffer.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-network");

/// A port whose queue is traced queues every packet; otherwise packets that find no queue pass directly.
TEST("whether a packet joins an empty queue or passes makes no difference")
{
    struct Changes
    {
        uint64_t count{0};
        void OnChange(uint64_t) { ++count; }
    };
    const auto play = [](const std::string& controller, bool published, Changes* watch)
    {
        Scenario s = Exact(4, {}, controller);
        s.published = published;
        AddIncast(s, 4, 200'000, 3 * US);
        TestNetwork net(std::move(s));
        SwitchPort& port = net.PortTo(5, 6);
        port.RecordQueue(0);
        for (const auto& [id, sw] : net->Switches())
        {
            for (const auto& each : watch ? sw->Ports() : std::vector<Ptr<SwitchPort>>{})
            {
                each->TraceConnectWithoutContext("QueueBytes",
                                                 MakeCallback(&Changes::OnChange, watch));
            }
        }
        net->Run();
        port.Stats()->Finish(NowPicos());
        return std::tuple{net.Ends(), port.Stats()->Mean(), port.Stats()->Max()};
    };
    for (const std::string controller : {"hpcc", "dcqcn"})
    {
        for (const bool published : {false, true})
        {
            Changes changes;
            const auto queued = play(controller, published, &changes);
            ASSERT_GT(changes.count, 4 * 200 * 2, "each packet joins a queue");
            ASSERT(play(controller, published, nullptr) == queued,
                   controller << ", published " << published << ": ends of flows, queue");
        }
    }
}

/// A link that carries less than a frame at a time needs frames of headroom, or a pause is too late.
TEST("a link that holds less than a frame needs two frames of headroom")
{
    for (const uint32_t frames : {2, 0})
    {
        Scenario s = Dumbbell(4, 1e9);
        s.buffer.bufferBytes = 200'000;
        s.buffer.headroomFrames = frames;
        s.timeLimit = 20 * MS;
        AddIncast(s, 4, 2'000'000);
        TestNetwork net(std::move(s));
        net->Run();
        ASSERT_EQ(net->Context().droppedPackets == 0, frames == 2, frames << " frames");
    }
}

TEST("a packet or ACK that is lost at any place is sent again, and the flow ends")
{
    using enum PacketKind;
    for (const auto& [kind, nth, needsTimeout] : {std::tuple{Data, 1, false},
                                                  {Data, 20, false},
                                                  {Data, 50, true},
                                                  {Ack, 10, false},
                                                  {Ack, 50, true}})
    {
        const Case about(std::string(kind == Data ? "packet " : "ACK ") + Shown(nth));
        int seen{0};
        Scenario s = Dumbbell(1, 100e9);
        SetWindow(s, 20'000);
        s.retransmissionTimeout = 100 * US;
        AddFlow(s, 0, 1, 50'000);
        TestNetwork net(std::move(s));
        Drop(kind == Data ? net.PortTo(2, 3) : net.PortTo(3, 2),
             [&, k = kind, n = nth](const Packet& packet)
             { return packet.kind == k && ++seen == n; });
        net->Run();
        ASSERT_GT(net.Of(0).end, 0, "the flow ends");
        ASSERT_EQ(net.Of(0).ackedBytes, 50'000, "all is acknowledged");
        ASSERT_EQ(net.Of(0).timeouts > 0, needsTimeout, "by timeout");
        ASSERT(kind == Ack || net.Of(0).retransmittedBytes > 0, "something was sent again");
        ASSERT_EQ(net->TransmittedPayload(),
                  net->DeliveredPayload() + net->Context().droppedPayload,
                  "conservation of bytes");
    }
}

/// Without PFC every byte outside other ports' reserves is first come, first served.
TEST("without PFC the whole pool is one port's, if no other wants it")
{
    SharedBufferConfig config;
    config.bufferBytes = 20'000;
    config.pfc = false;
    config.sharing = PoolSharing::Complete;
    SharedBuffer buffer(config);
    buffer.AddPort(0, 3);
    buffer.AddPort(0, 3);
    ASSERT_EQ(buffer.CommittedBytes(), 2 * 4096, "no headroom");
    int packets = 0;
    for (; buffer.Admits(0, 1000); ++packets)
    {
        buffer.Add(0, 1000);
    }
    // Own reserve and pool: 20000 - 4096 = 15904 B, whatever alpha is.
    ASSERT_EQ(packets, 15, "all but the other port's reserve");
    ASSERT_EQ(buffer.TakePause(0), false, "no pause");
    ASSERT(buffer.Admits(0, 904), "what is left of the pool");
    ASSERT(buffer.Admits(1, 4096 + 904), "its reserve, and the same rest");
    ASSERT_EQ(buffer.Admits(1, 4096 + 905), false, "a byte too many");
    for (; packets > 0; --packets)
    {
        buffer.Remove(0, 1000);
    }
    ASSERT_EQ(buffer.UsedBytes(), 0, "all given back");
    ASSERT_EQ(buffer.FreeBytes(), 20'000 - 2 * 4096, "to the pool as well");
}

/// Sharing is a rule of the network: the published simulator keeps its headroom without PFC.
TEST("PFC and the preset say how a pool is shared")
{
    for (const bool pfc : {true, false})
    {
        const auto ours = pfc ? PoolSharing::Thresholds : PoolSharing::Complete;
        EXPECT(NetworkRules().GetPoolSharing(pfc) == ours, "pfc " << pfc);
        const auto published = published::Rules().GetPoolSharing(pfc);
        EXPECT(published == PoolSharing::Thresholds, "published, pfc " << pfc);
    }
}

TEST("headroom is three times what a link holds, and a threshold's shift counts whole doublings")
{
    const NetworkRules rules;
    EXPECT_EQ(rules.Headroom(25e9, 1003 * NS), 9403, "9403.125 B");
    EXPECT_EQ(Row(rules.Doublings(0.25), rules.Doublings(1.6), rules.Doublings(2.5)),
              Row(0, 0, 1),
              "of the rates");
    EXPECT_EQ(rules.Doublings(4), 2, "of the rates");
}

/// Bursts that meet at a blocked link: packets that do not fit are lost, one by one.
TEST("what does not fit is lost, packet for packet")
{
    constexpr uint32_t SENDERS = 4;
    constexpr uint32_t PACKETS = 50;
    for (const auto& [bufferBytes, reserveBytes] :
         {std::pair{60'000, 0}, {60'000, 4096}, {1090, 0}})
    {
        const Case about(Shown(bufferBytes) + " B, reserves of " + Shown(reserveBytes));
        Scenario s = Exact(SENDERS);
        s.buffer.pfc = false;
        s.buffer.bufferBytes = static_cast<uint64_t>(bufferBytes);
        s.buffer.reserveBytes = static_cast<uint32_t>(reserveBytes);
        s.links[SENDERS].rateBps = 100e6; // a packet lasts 84 us, longer than the test
        s.timeLimit = 50 * US;
        SetWindow(s, 1'000'000);
        AddIncast(s, SENDERS, PACKETS * 1000);
        TestNetwork net(std::move(s));
        net->Run();
        // One is on the link; the reserve of the port with an idle peer stays empty.
        const uint64_t fit = 1 + static_cast<uint64_t>(bufferBytes - reserveBytes) / PACKET_BYTES;
        const SwitchPort& uplink = net.PortTo(SENDERS + 1, SENDERS + 2);
        const Losses lost = uplink.Lost().By(LossCause::BufferFull);
        ASSERT_EQ(lost.packets, SENDERS * PACKETS - fit, "lost");
        ASSERT_EQ(lost.payloadBytes, 1000 * lost.packets, "payload");
        ASSERT_EQ(uplink.Lost().By(LossCause::Link).packets, 0, "no other cause");
        ASSERT_EQ(net->Context().droppedPackets, lost.packets, "nowhere else");
        ASSERT_EQ(net->Context().pool.LiveCount(), fit, "the others are there");
    }
}

TEST("a pause stops a host's ACKs, whatever their controller and group")
{
    constexpr Picos RESUMED = 50 * US;
    for (const std::string name : {"dcqcn", "hpcc"})
    {
        for (const uint32_t group : {3U, 1U})
        {
            const Case about("ACKs of " + name + " in group " + Shown(group));
            Scenario s = Exact(2, {{0, 2, 1000}, {2, 1, 20'000, 1500 * NS}}, name);
            s.priorityGroup = group;
            TestNetwork net(std::move(s));
            SwitchPort& toReceiver = net.PortTo(4, 2);
            At(0, [&toReceiver] { toReceiver.SendPfc(PacketKind::Pause); });
            At(RESUMED, [&toReceiver] { toReceiver.SendPfc(PacketKind::Resume); });
            net->Run();
            ASSERT_GT(net.Of(0).end, RESUMED, "ACK");
            ASSERT_GT(net.Of(1).end, RESUMED, "data");
        }
    }
}

TEST("a receiver's NACKs of one gap keep their interval, those of another do not wait")
{
    struct Gap
    {
        std::string what;
        std::vector<std::pair<uint64_t, int>> losses; ///< sequence, how often
        double gapNs;                                 ///< between two NACKs
    };
    // Another gap: a round trip of full packets, and the one that shows it, which is below the interval.
    for (Gap& gap : std::vector<Gap>{{"the same gap again", {{100'000, 2}}, 2 * 6240},
                                     {"another gap", {{100'000, 1}, {101'000, 2}}, 6420}})
    {
        const Case about(gap.what);
        const auto drops = [&](const Packet& packet)
        {
            const auto lost =
                std::ranges::find(gap.losses, packet.sequence, &std::pair<uint64_t, int>::first);
            return packet.kind == PacketKind::Data && lost != gap.losses.end() &&
                   lost->second-- > 0;
        };
        Scenario s = Exact(1, {{0, 1, 10'000'000}});
        s.buffer.pfc = false;
        SetWindow(s, 1'000'000'000); // packets continue to arrive
        s.retransmissionTimeout = 100 * MS;
        TestNetwork net(std::move(s));
        Drop(net.PortTo(2, 3), drops);
        const auto nacks = PacketsOf(*net->Nics()[0], "Rx", PacketKind::Nack);
        net->Run();
        ASSERT_EQ(net->Unfinished(), 0, "the flow ends");
        ASSERT_EQ(nacks->size(), 2, "NACKs");
        // the next NACK answers the first packet after the wait
        const Picos gapNs = (nacks->at(1).arrival - nacks->at(0).arrival) / NS;
        ASSERT_NEAR(gapNs, gap.gapNs, 100.0, "from the first to the second");
    }
}

/// One packet at a time, so that nothing ever waits in a switch.
TEST("published: the end of a switch's transmission is an event only where something waits for it")
{
    constexpr uint64_t PACKETS = 100;
    constexpr uint64_t LINKS = 3;
    Scenario s = Exact(1, {{0, 1, 1000 * PACKETS}});
    s.published = true;
    SetWindow(s, 1000);
    TestNetwork net(std::move(s));
    net->Run();
    const uint64_t arrivals = 2 * LINKS * PACKETS; // of data and ACKs
    const uint64_t ends = 2 * PACKETS;             // of the two cards' transmissions
    const uint64_t start = 10;                     // at most, of the flow and its timer
    ASSERT_GT(Simulator::GetEventCount() + 1, arrivals + ends, "events");
    ASSERT_LT(Simulator::GetEventCount(), arrivals + ends + start, "events");
}

/// Every pause frame is counted at the switch port that sent it, be its peer a switch or a host.
TEST("pause frames are counted where they are sent")
{
    Scenario s = Dumbbell(8, 100e9);
    s.buffer.bufferBytes = 600'000;
    s.links.back().rateBps = 25e9; // the second switch pauses the first, and that one the senders
    AddIncast(s, 8, 200'000);
    Played net(std::move(s));
    uint64_t sent = 0;
    for (const auto& [id, sw] : net->Switches())
    {
        for (const auto& port : sw->Ports())
        {
            sent += port->PauseFramesSent();
            ASSERT_EQ(port->PauseFramesSent(),
                      port->Peer().PauseFramesReceived(),
                      "from " << id << " to " << port->Peer().NodeId());
        }
    }
    ASSERT_EQ(sent, net->Context().pfcFrames, "all");
    ASSERT_GT(net.PortTo(9, 0).PauseFramesSent(), 0, "to a host");
    ASSERT_GT(net.PortTo(10, 9).PauseFramesSent(), 0, "to a switch");
}

} // namespace

} // namespace ns3::env::rdma::test
