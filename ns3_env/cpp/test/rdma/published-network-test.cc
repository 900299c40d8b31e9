// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the published simulator's deviations on a network, compared with the default preset.
#include "test-network.h"

#include "ns3/boolean.h"
#include "ns3/rng-stream.h"
#include "ns3_env/cpp/test/suite.h"

#include <array>
#include <utility>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-published-network");

constexpr Picos NS = PS_PER_NS;

std::string
Mode(bool published)
{
    return published ? "published: " : "default: ";
}

/// Pause and resume frames each use a random stream, though nothing in them is random.
void
PfcDraws(bool published)
{
    const Case about(Mode(published) + "random numbers that PFC frames take");
    uint64_t frames{0};
    const auto onTx = [&](const Packet& packet) { frames += packet.flow == nullptr ? 1 : 0; };

    Scenario s = Dumbbell(8, 100e9);
    s.published = published;
    s.buffer.bufferBytes = 600'000;
    AddIncast(s, 8, 200'000);
    const uint64_t streams = 6 * s.isSwitch.size() + 2;
    TestNetwork net(std::move(s));
    for (Port* port : net->Ports())
    {
        port->TraceConnectWithoutContext("Tx", Callback<void, const Packet&>(onTx));
    }
    net->Run();
    ASSERT_GT(frames, 10, "there were pauses");
    const double next = net->Context().random->Draw();
    const double expected =
        published ? RngStream(1, streams + frames, 1).RandU01() : OneStream().Draw();
    ASSERT_EQ(next, expected, "after " << frames << " frames");
}

/// A paused host still answers under DCQCN and TIMELY, with ACKs in the high-priority queue, and if the pause is for
/// another group than that of ACKs.
void
AckClass(bool published, std::string controller, uint32_t group, bool passes)
{
    const Case about(Mode(published) + "ACKs of " + controller + " in group " +
                     std::to_string(group) +
                     (passes ? " pass a pause" : " wait for the end of a pause"));
    constexpr Picos RESUMED = 50'000 * NS;
    Scenario s = Dumbbell(2, 100e9);
    s.published = published;
    s.controllers[0].name = controller;
    s.priorityGroup = group;
    AddFlow(s, 0, 2, 1000);
    AddFlow(s, 2, 1, 20'000, 1500 * NS); // data of the paused host waits in either case
    TestNetwork net(std::move(s));
    SwitchPort& toReceiver = net.PortTo(4, 2);
    Simulator::Schedule(Time(0), [&toReceiver] { toReceiver.SendPfc(PacketKind::Pause); });
    Simulator::Schedule(Time(RESUMED), [&toReceiver] { toReceiver.SendPfc(PacketKind::Resume); });
    net->Run();
    ASSERT_EQ(net->Records()[0].end < RESUMED, passes, "ACK");
    ASSERT_GT(net->Records()[1].end, RESUMED, "data");
}

/// A round trip of 720 us is longer than a receiver waits: it answers one gap twice, and the sender goes back twice.
/// Duplicates are then not answered or, if the flow has ended, answered as by a new receiver.
TEST("published: answers to duplicates")
{
    uint64_t acked{0};
    uint32_t lost{0};
    uint32_t toDuplicates{0};
    uint32_t toForgotten{0};
    const auto drops = [&](const Packet& packet) -> bool
    { return packet.flow->Id() == 0 && packet.sequence == 100'000 && ++lost == 1; };
    const auto onRx = [&](const Packet& packet)
    {
        if (packet.flow->Id() != 0)
        {
            return;
        }
        const bool nack = packet.kind == PacketKind::Nack;
        toForgotten += nack && packet.sequence == 0 ? 1 : 0;
        toDuplicates += !nack && packet.sequence <= acked ? 1 : 0;
        acked = std::max(acked, packet.sequence);
    };

    Scenario s = Dumbbell(2, 100e9, 120'000 * NS);
    s.published = true;
    s.controllers[0].attributes = {{"Window", "1000000000"}};
    s.buffer.bufferBytes = 1ULL << 30;
    AddFlow(s, 0, 2, 4'000'000);
    AddFlow(s, 0, 2, 4'000'000);  // prolongs the gap: together at half the rate
    AddFlow(s, 2, 1, 50'000'000); // continues when the other flows have ended
    TestNetwork net(std::move(s));
    net.PortTo(3, 4).SetDropFilter(Callback<bool, const Packet&>(drops));
    net->Nics()[0]->TraceConnectWithoutContext("Rx", Callback<void, const Packet&>(onRx));
    net->Run();
    ASSERT_EQ(net->Records()[0].ackedBytes, 4'000'000, "all is acknowledged");
    ASSERT_EQ(toDuplicates, 0, "ACKs of duplicates");
    ASSERT_GT(toForgotten, 0, "a new receiver's NACKs");
}

/// The first packet is lost, and every packet is marked: the NACK is the sender's only feedback for a round trip.
void
NackFeedback(bool published)
{
    const Case about(Mode(published) + "a NACK carries its packet's mark to the controller");
    const auto drops = [](const Packet& packet) -> bool
    { return packet.sequence == 0 && packet.sentAt == 0; };

    Scenario s = Dumbbell(1, 100e9);
    s.published = published;
    s.controllers[0].name = "dctcp";
    s.ecn = {.enabled = true, .kminBytes = -1, .kmaxBytes = -1, .pmax = 1};
    AddFlow(s, 0, 1, 10'000);
    const Flow* flow = nullptr;
    TestNetwork net(std::move(s), [&flow](Flow& made, const FlowEntry&) { flow = &made; });
    net.PortTo(2, 3).SetDropFilter(Callback<bool, const Packet&>(drops));
    double rate = 0;
    Simulator::Schedule(Time(7'000 * NS), [&] { rate = flow->RateBps(); });
    net->Run();
    ASSERT_GT(rate, 0, "asked while the flow ran");
    ASSERT_LT(rate, 100e9, "cut");
}

/// Packets are lost at the rate that `losses` specifies, and NACKs reach the sender `gapsNs` apart.
void
Nack(std::string what,
     bool published,
     std::vector<std::pair<uint64_t, int>> losses,
     std::vector<int64_t> gapsNs)
{
    const Case about(Mode(published) + what);
    std::vector<Picos> nacks;
    const auto drops = [&](const Packet& packet) -> bool
    {
        for (auto& [sequence, left] : losses)
        {
            if (packet.kind == PacketKind::Data && packet.sequence == sequence && left > 0)
            {
                --left;
                return true;
            }
        }
        return false;
    };
    const auto onRx = [&](const Packet& packet)
    {
        if (packet.kind == PacketKind::Nack)
        {
            nacks.push_back(packet.arrival);
        }
    };

    Scenario s = Dumbbell(1, 100e9);
    s.published = published;
    s.buffer.pfc = false;
    s.controllers[0].attributes = {{"Window", "1000000000"}}; // packets continue to arrive
    AddFlow(s, 0, 1, 10'000'000);
    s.retransmissionTimeout = 100'000'000 * NS;
    TestNetwork net(std::move(s));
    net.PortTo(2, 3).SetDropFilter(Callback<bool, const Packet&>(drops));
    net->Nics()[0]->TraceConnectWithoutContext("Rx", Callback<void, const Packet&>(onRx));
    net->Run();
    ASSERT_EQ(net->Unfinished(), 0, "the flow ends");
    ASSERT_EQ(nacks.size(), gapsNs.size() + 1, "NACKs");
    for (size_t i = 0; i < gapsNs.size(); ++i)
    {
        // the next NACK answers the first packet after the wait
        const auto gap = static_cast<double>(nacks[i + 1] - nacks[i]) / NS;
        ASSERT_NEAR(gap, static_cast<double>(gapsNs[i]), 100.0, "NACK " << i);
    }
}

/// Three flows of one packet in flight each are paused, and the first ends meanwhile: whose turn is next.
void
Turn(bool published, size_t before, uint32_t next)
{
    const Case about(Mode(published) + "whose turn it is after flow 0 has ended, flow " +
                     std::to_string(before - 1) + " served last");
    std::vector<uint32_t> sent;
    const auto onTx = [&](const Packet& packet)
    {
        if (packet.kind == PacketKind::Data)
        {
            sent.push_back(packet.flow->Id());
        }
    };

    Scenario s = Dumbbell(1, 100e9);
    s.published = published;
    s.controllers[0].attributes = {{"Window", "1000"}};
    // the pause takes 1003 ns to the host, a packet 84 ns to the link
    const Picos start = (1010 - 84 * static_cast<Picos>(before)) * NS;
    AddFlow(s, 0, 1, 1000, start);
    AddFlow(s, 0, 1, 3000, start);
    AddFlow(s, 0, 1, 3000, start);
    TestNetwork net(std::move(s));
    SwitchPort& toSender = net.PortTo(2, 0);
    Simulator::Schedule(Time(0), [&toSender] { toSender.SendPfc(PacketKind::Pause); });
    Simulator::Schedule(Time(20'000 * NS), [&toSender] { toSender.SendPfc(PacketKind::Resume); });
    net->Nics()[0]->TraceConnectWithoutContext("Tx", Callback<void, const Packet&>(onTx));
    net->Run();
    ASSERT_EQ(sent.size(), 7, "packets");
    for (size_t i = 0; i < before; ++i)
    {
        ASSERT_EQ(sent[i], i, "before the pause");
    }
    ASSERT_EQ(sent[before], next, "after it");
}

/// One packet at a time, so that nothing ever waits in a switch.
TEST("published: the end of a switch's transmission is an event only where something waits for it")
{
    constexpr uint64_t PACKETS = 100;
    constexpr uint64_t LINKS = 3;
    Scenario s = Dumbbell(1, 100e9);
    s.published = true;
    s.controllers[0].attributes = {{"Window", "1000"}};
    AddFlow(s, 0, 1, 1000 * PACKETS);
    TestNetwork net(std::move(s));
    net->Run();
    const uint64_t arrivals = 2 * LINKS * PACKETS; // of data and ACKs
    const uint64_t ends = 2 * PACKETS;             // of the two cards' transmissions
    const uint64_t start = 10;                     // at most, of the flow and its timer
    ASSERT_GT(Simulator::GetEventCount() + 1, arrivals + ends, "events");
    ASSERT_LT(Simulator::GetEventCount(), arrivals + ends + start, "events");
}

/// At 10 Gb/s sixteen senders reach gaps of more than 4 us, and rate cuts in the nanosecond of departures.
TEST("published: DCQCN's timers take their turn with departures")
{
    const auto endsOf = [](bool turns)
    {
        constexpr uint32_t SENDERS = 16;
        Scenario s = Dumbbell(SENDERS, 10e9);
        s.controllers[0].name = "dcqcn";
        s.ecn = {true, 100e3, 400e3, 0.2, 25e9};
        s.buffer.bufferBytes = 16ULL << 20;
        constexpr std::array<Picos, SENDERS> START_NS{7327,
                                                      5585,
                                                      9172,
                                                      11401,
                                                      13787,
                                                      10366,
                                                      8158,
                                                      7384,
                                                      12496,
                                                      15449,
                                                      10909,
                                                      5889,
                                                      6806,
                                                      15333,
                                                      10676,
                                                      4226};
        for (uint32_t i = 0; i < SENDERS; ++i)
        {
            AddFlow(s, i, SENDERS, 2'000'000, START_NS[i] * NS);
        }
        TestNetwork net(std::move(s),
                        [turns](Flow& flow, const FlowEntry&)
                        {
                            if (!turns)
                            {
                                flow.Controller().SetAttribute("TimerEvents", BooleanValue(false));
                            }
                        });
        net->Run();
        std::vector<Picos> ends;
        for (const FlowRecord& record : net->Records())
        {
            ends.push_back(record.end);
        }
        return ends;
    };

    ASSERT(endsOf(true) != endsOf(false), "it matters which acts first");
}

/// Two hosts, and between their switches two paths, by switch 4 and by switch 5, of `byFour` and `byFive` a link.
Scenario
TwoWays(bool published, Picos byFour, Picos byFive)
{
    Scenario s;
    s.timeLimit = PS_PER_SECOND;
    s.published = published;
    s.isSwitch = {false, false, true, true, true, true};
    s.links = {{0, 2, 100e9, 1000 * NS},
               {1, 3, 100e9, 1000 * NS},
               {2, 4, 100e9, byFour},
               {4, 3, 100e9, byFour},
               {2, 5, 100e9, byFive},
               {5, 3, 100e9, byFive}};
    s.controllers.push_back({"hpcc", {}});
    return s;
}

/// Checks that if equal-hop paths differ in delay, the one by the highest id sets the base RTT of a pair of hosts.
void
PairPath(bool published, Picos byFour, Picos byFive, Picos largest)
{
    const Case about(Mode(published) + "largest RTT with ways of " + std::to_string(byFour / NS) +
                     " and " + std::to_string(byFive / NS) + " ns a link");
    Scenario s = TwoWays(published, byFour, byFive);
    for (uint32_t i = 0; i < 10; ++i) // some by each path
    {
        AddFlow(s, 0, 1, 1000);
    }
    std::vector<PathFacts> paths;
    TestNetwork net(std::move(s),
                    [&paths](Flow& flow, const FlowEntry&) { paths.push_back(flow.Path()); });
    net->Run();
    const Picos serialisation = 4 * 80 * NS;
    const auto rtt = [serialisation](Picos delay)
    { return 2 * (2000 * NS + 2 * delay) + serialisation; };
    size_t slow = 0;
    for (const PathFacts& path : paths)
    {
        ASSERT_EQ(path.maxBaseRtt, rtt(largest), "largest");
        const bool isSlow = path.baseRtt == rtt(std::max(byFour, byFive));
        slow += isSlow ? 1 : 0;
        if (published)
        {
            ASSERT_EQ(path.baseRtt, rtt(byFive), "of the pair");
        }
    }
    if (!published)
    {
        ASSERT_GT(slow, 0, "each flow has the RTT of its own way");
        ASSERT_LT(slow, paths.size(), "each flow has the RTT of its own way");
    }
    const Picos size = IdealTime(1048, 100e9, Rounding::TruncateNs);
    for (size_t i = 0; published && i < paths.size(); ++i)
    {
        ASSERT_EQ(net->Records()[i].standalone, paths[i].baseRtt + size, "alone");
    }
}

/// Every pause frame is counted at the switch port that sent it, be its peer a switch or a host.
TEST("pause frames are counted where they are sent")
{
    Scenario s = Dumbbell(8, 100e9);
    s.buffer.bufferBytes = 600'000;
    s.links.back().rateBps = 25e9; // the second switch pauses the first, and that one the senders
    AddIncast(s, 8, 200'000);
    TestNetwork net(std::move(s));
    net->Run();
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

TEST("PFC frames take random numbers in the published simulator alone")
{
    PfcDraws(false);
    PfcDraws(true);
}

TEST("a NACK carries its packet's mark to the controller")
{
    NackFeedback(false);
    NackFeedback(true);
}

TEST("ACKs of some controllers and groups pass a pause in the published simulator")
{
    for (const std::string name : {"dcqcn", "timely", "hpcc", "dctcp"})
    {
        AckClass(true, name, 3, name == "dcqcn" || name == "timely");
        AckClass(true, name, 1, true);
        AckClass(false, name, 3, false);
        AckClass(false, name, 1, false);
    }
}

TEST("a receiver's NACKs of one gap keep their interval, those of another do not wait")
{
    Nack("the same gap again", false, {{100'000, 2}}, {2 * 6240});
    Nack("the same gap again", true, {{100'000, 2}}, {500'000});
    for (const bool published : {false, true})
    {
        // a round trip of full packets, and the one that shows the second gap: below either interval
        Nack("another gap", published, {{100'000, 1}, {101'000, 2}}, {6420});
    }
}

TEST("whose turn it is after a flow has ended")
{
    Turn(false, 3, 1);
    Turn(false, 2, 2);
    Turn(true, 3, 2);
    Turn(true, 2, 1);
}

TEST("the largest RTT is of the flow's own way, or of the pair's in the published simulator")
{
    PairPath(false, 1000 * NS, 5000 * NS, 5000 * NS);
    PairPath(false, 5000 * NS, 1000 * NS, 5000 * NS);
    PairPath(true, 1000 * NS, 5000 * NS, 5000 * NS);
    PairPath(true, 5000 * NS, 1000 * NS, 1000 * NS);
}

} // namespace

} // namespace ns3::env::rdma::test
