// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the RDMA network: completion times, PFC, loss recovery, fairness of the NIC.
#include "test-network.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-network");

/// Four senders at line rate fill the bottleneck at three times the link rate (Zheng 2024, Fig. 3.2).
TEST("queue grows at 3 x the link rate")
{
    Scenario s = Dumbbell(4, 1e9);
    s.published = false;
    s.timeLimit = 2 * MS;
    s.buffer.pfc = false;
    AddIncast(s, 4, 10'000'000);
    TestNetwork net(std::move(s));
    std::vector<double> bits;
    SwitchPort& port = net.PortTo(5, 6);
    for (const Picos at : {100 * US, 1900 * US})
    {
        At(at, [&] { bits.push_back(static_cast<double>(port.QueueBytes()) * 8); });
    }
    net->Run();
    ASSERT_NEAR((bits[1] - bits[0]) / 1.8e-3, 3e9, 0.02e9, "slope in bit/s");
}

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

/// With PFC on no packet is ever lost, and pauses spread over two switches to the senders.
TEST("PFC loses nothing where the same incast without it does")
{
    for (const bool pfc : {true, false})
    {
        Scenario s = Dumbbell(8, 100e9);
        s.buffer.bufferBytes = 600'000; // little above reserves and headrooms
        s.buffer.pfc = pfc;
        SetWindow(s, 100'000);
        s.retransmissionTimeout = MS;
        // The slow last hop makes the second switch pause the first, and that one the senders.
        s.links.back().rateBps = 25e9;
        AddIncast(s, 8, 500'000);
        Played net(std::move(s));
        ASSERT_EQ(net->Context().pool.LiveCount(), 0, "packets left behind");
        ASSERT_EQ(net->Context().droppedPackets > 0, !pfc, "lost packets");
        ASSERT_EQ(net.PortTo(9, 10).PauseFramesReceived() > 0, pfc, "pause between switches");
        ASSERT_EQ(net->Nics()[0]->PauseFramesReceived() > 0, pfc, "pause of a sender");
        for (const auto& [id, sw] : net->Switches())
        {
            ASSERT_EQ(sw->Buffer().UsedBytes(), 0, "buffer of switch " << id);
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

/// The NIC serves its flows in turn, packet by packet: equal flows end within a packet of each other.
TEST("a NIC serves its flows in turn")
{
    Scenario s = Dumbbell(2, 100e9);
    AddFlows(s, std::vector<FlowRow>(5, {0, 2, 100'000}));
    Played net(std::move(s));
    for (size_t i = 1; i < 5; ++i)
    {
        ASSERT_EQ(net.Of(i).end - net.Of(i - 1).end, 83 * NS, "one packet time apart");
    }
}

/// A window under one packet sends one packet every packet / window base RTTs (docs/sources/mpcc.md).
TEST("a window under one packet is paced")
{
    Scenario s = Dumbbell(1, 100e9);
    SetWindow(s, 262); // a quarter of 1048 B
    AddFlow(s, 0, 1, 11'000);
    Played net(std::move(s));
    const double gapNs = 6240.0 * 1048 / 262;
    ASSERT_NEAR(net.Of(0).end / NS, 10 * gapNs + 6261, 11.0, "ten gaps and one round trip");
}

TEST("pacing spaces packets by wire bytes over rate")
{
    Scenario s = Dumbbell(1, 100e9);
    AddFlow(s, 0, 1, 11'000);
    TestNetwork net(std::move(s), [](Flow& flow, const FlowEntry&) { flow.SetRate(10e9); });
    net->Run();
    ASSERT_EQ(net.Of(0).end, (10 * 838 + 6261) * NS, "ten gaps of 838 ns and one round trip");
}

} // namespace

} // namespace ns3::env::rdma::test
