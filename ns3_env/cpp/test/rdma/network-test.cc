// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the RDMA network: completion times, PFC, loss recovery, fairness of the NIC.
#include "test-network.h"

#include "ns3_env/cpp/test/suite.h"

#include <cmath>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-network");

constexpr double GBPS = 1e9;
constexpr Picos NS = PS_PER_NS;

/// Four senders at line rate fill the bottleneck at three times the link rate (Zheng 2024, Fig. 3.2).
TEST("queue grows at 3 x the link rate")
{
    Scenario s = Dumbbell(4, 1 * GBPS);
    s.published = false;
    s.timeLimit = 2'000'000 * NS;
    s.buffer.pfc = false;
    AddIncast(s, 4, 10'000'000);
    TestNetwork net(std::move(s));
    std::vector<std::pair<double, double>> samples;
    SwitchPort& port = net.PortTo(5, 6);
    for (int64_t ns = 100'000; ns <= 1'900'000; ns += 100'000)
    {
        Simulator::Schedule(
            Time(ns * NS),
            [&samples, &port, ns]()
            { samples.emplace_back(ns * 1e-9, static_cast<double>(port.QueueBytes()) * 8); });
    }
    net->Run();
    const double slope = (samples.back().second - samples.front().second) /
                         (samples.back().first - samples.front().first);
    ASSERT_NEAR(slope, 3 * GBPS, 0.02 * GBPS, "slope in bit/s");
}

/// A port whose queue is traced queues every packet; otherwise packets that find no queue pass directly.
TEST("whether a packet joins an empty queue or passes makes no difference")
{
    struct Seen
    {
        std::vector<Picos> ends;
        double meanQueue{0};
        uint64_t maxQueue{0};
        uint64_t changes{0};

        void OnChange(uint64_t) { ++changes; }
    };
    const auto play = [](const std::string& controller, bool published, bool watched)
    {
        Scenario s = Dumbbell(4, 100 * GBPS);
        s.published = published;
        s.controllers[0].name = controller;
        AddIncast(s, 4, 200'000, 3'000 * NS);
        TestNetwork net(std::move(s));
        Seen seen;
        SwitchPort& port = net.PortTo(5, 6);
        port.RecordQueue(0);
        for (const auto& [id, sw] : net->Switches())
        {
            for (const auto& each : watched ? sw->Ports() : std::vector<Ptr<SwitchPort>>{})
            {
                each->TraceConnectWithoutContext("QueueBytes",
                                                 MakeCallback(&Seen::OnChange, &seen));
            }
        }
        net->Run();
        for (const FlowRecord& flow : net->Records())
        {
            seen.ends.push_back(flow.end);
        }
        port.Stats()->Finish(NowPicos());
        seen.meanQueue = port.Stats()->Mean();
        seen.maxQueue = port.Stats()->Max();
        return seen;
    };
    for (const std::string controller : {"hpcc", "dcqcn"})
    {
        for (bool published : {false, true})
        {
            const Case about(controller + (published ? ", published" : ", default"));
            const Seen passing = play(controller, published, false);
            const Seen queued = play(controller, published, true);
            ASSERT_GT(queued.changes, 4 * 200 * 2, "each packet joins a queue");
            ASSERT(passing.ends == queued.ends, "ends of flows");
            ASSERT_EQ(passing.meanQueue, queued.meanQueue, "mean queue");
            ASSERT_EQ(passing.maxQueue, queued.maxQueue, "longest queue");
        }
    }
}

/// With PFC on no packet is ever lost, and pauses spread over two switches to the senders.
void
PfcLossless(bool pfc)
{
    const Case about(pfc ? "PFC loses nothing" : "the same incast without PFC does lose");
    Scenario s = Dumbbell(8, 100 * GBPS);
    s.buffer.bufferBytes = 600'000; // little above reserves and headrooms
    s.buffer.pfc = pfc;
    s.controllers[0].attributes = {{"Window", "100000"}};
    s.retransmissionTimeout = 1'000'000 * NS;
    // The slow last hop makes the second switch pause the first, and that one the senders.
    s.links.back().rateBps = 25 * GBPS;
    AddIncast(s, 8, 500'000);
    TestNetwork net(std::move(s));
    net->Run();
    ASSERT_EQ(net->Unfinished(), 0, "every flow ends");
    ASSERT_EQ(net->Context().pool.LiveCount(), 0, "packets left behind");
    if (!pfc)
    {
        ASSERT_GT(net->Context().droppedPackets, 0, "the buffer was too small");
        return;
    }
    ASSERT_EQ(net->Context().droppedPackets, 0, "lost packets");
    ASSERT_GT(net.PortTo(9, 10).PauseFramesReceived(), 0, "pause between switches");
    ASSERT_GT(net->Nics()[0]->PauseFramesReceived(), 0, "pause of a sender");
    for (const auto& [id, sw] : net->Switches())
    {
        ASSERT_EQ(sw->Buffer().UsedBytes(), 0, "buffer of switch " << id);
    }
}

/// A link that carries less than a frame at a time needs frames of headroom, or a pause is too late.
void
Headroom(uint32_t frames)
{
    const Case about(std::to_string(frames) + " frames of headroom on slow links");
    Scenario s = Dumbbell(4, 1 * GBPS);
    s.buffer.bufferBytes = 200'000;
    s.buffer.headroomFrames = frames;
    s.timeLimit = 20'000'000 * NS;
    AddIncast(s, 4, 2'000'000);
    TestNetwork net(std::move(s));
    net->Run();
    ASSERT_EQ(net->Context().droppedPackets == 0, frames == 2, "lossless");
}

/// A packet or ACK lost at any place is retransmitted, and the flow completes.
void
LossRecovery(std::string what, PacketKind kind, uint64_t nth, bool needsTimeout)
{
    const Case about("a lost " + what + " is recovered");
    uint64_t seen{0};
    const auto drops = [&](const Packet& packet) -> bool
    { return packet.kind == kind && ++seen == nth; };

    Scenario s = Dumbbell(1, 100 * GBPS);
    s.controllers[0].attributes = {{"Window", "20000"}};
    s.retransmissionTimeout = 100'000 * NS;
    AddFlow(s, 0, 1, 50'000);
    TestNetwork net(std::move(s));
    Port& port = kind == PacketKind::Data ? net.PortTo(2, 3) : net.PortTo(3, 2);
    port.SetDropFilter(Callback<bool, const Packet&>(drops));
    net->Run();
    const FlowRecord& flow = net->Records()[0];
    ASSERT_GT(flow.end, 0, "the flow ends");
    ASSERT_EQ(flow.ackedBytes, 50'000, "all is acknowledged");
    ASSERT_EQ(flow.timeouts > 0, needsTimeout, "by timeout");
    if (kind == PacketKind::Data)
    {
        ASSERT_GT(flow.retransmittedBytes, 0, "something was sent again");
    }
    ASSERT_EQ(net->TransmittedPayload(),
              net->DeliveredPayload() + net->Context().droppedPayload,
              "conservation of bytes");
}

/// The NIC serves its flows in turn, packet by packet: equal flows end within a packet of each other.
TEST("a NIC serves its flows in turn")
{
    Scenario s = Dumbbell(2, 100 * GBPS);
    for (int i = 0; i < 5; ++i)
    {
        AddFlow(s, 0, 2, 100'000);
    }
    TestNetwork net(std::move(s));
    net->Run();
    for (int i = 1; i < 5; ++i)
    {
        ASSERT_EQ(net->Records()[i].end - net->Records()[i - 1].end,
                  83 * NS,
                  "one packet time apart");
    }
}

/// A window under one packet sends one packet every packet / window base RTTs (docs/sources/mpcc.md).
TEST("a window under one packet is paced")
{
    Scenario s = Dumbbell(1, 100 * GBPS);
    s.controllers[0].attributes = {{"Window", "262"}}; // a quarter of 1048 B
    AddFlow(s, 0, 1, 11'000);
    TestNetwork net(std::move(s));
    net->Run();
    const double gapNs = 6240.0 * 1048 / 262;
    ASSERT_NEAR(static_cast<double>(net->Records()[0].end) / NS,
                10 * gapNs + 6261,
                11.0,
                "ten gaps and one round trip");
}

/// A pacing rate spaces packets by wire bytes / rate.
TEST("pacing spaces packets by wire bytes over rate")
{
    Scenario s = Dumbbell(1, 100 * GBPS);
    AddFlow(s, 0, 1, 11'000);
    TestNetwork net(std::move(s), [](Flow& flow, const FlowEntry&) { flow.SetRate(10 * GBPS); });
    net->Run();
    ASSERT_EQ(net->Records()[0].end,
              (10 * 838 + 6261) * NS,
              "ten gaps of 838 ns and one round trip");
}

TEST("PFC loses nothing where the same incast without it does")
{
    PfcLossless(true);
    PfcLossless(false);
}

TEST("a link that holds less than a frame needs two frames of headroom")
{
    Headroom(2);
    Headroom(0);
}

TEST("a packet or ACK that is lost at any place is sent again, and the flow ends")
{
    LossRecovery("first packet", PacketKind::Data, 1, false);
    LossRecovery("middle packet", PacketKind::Data, 20, false);
    LossRecovery("last packet", PacketKind::Data, 50, true);
    LossRecovery("ACK", PacketKind::Ack, 10, false);
    LossRecovery("last ACK", PacketKind::Ack, 50, true);
}

} // namespace

} // namespace ns3::env::rdma::test
