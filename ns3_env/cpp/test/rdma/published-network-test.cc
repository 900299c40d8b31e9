// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the published simulator's deviations on a network, compared with the default preset.
#include "test-network.h"

#include <tuple>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-published-network");

std::string
Mode(bool published)
{
    return published ? "published: " : "default: ";
}

Scenario
With(bool published, Scenario s)
{
    s.published = published;
    return s;
}

/// A paused host still answers under DCQCN and TIMELY, with ACKs in the high-priority queue, and if the pause is for
/// another group than that of ACKs.
TEST("ACKs of some controllers and groups pass a pause in the published simulator")
{
    constexpr Picos RESUMED = 50 * US;
    for (const std::string name : {"dcqcn", "timely", "hpcc", "dctcp"})
    {
        for (const auto& [published, group] :
             {std::pair{true, 3U}, {true, 1U}, {false, 3U}, {false, 1U}})
        {
            const Case about(Mode(published) + "ACKs of " + name + " in group " + Shown(group));
            // data of the paused host waits in either case
            Scenario s = With(published, Exact(2, {{0, 2, 1000}, {2, 1, 20'000, 1500 * NS}}, name));
            s.priorityGroup = group;
            TestNetwork net(std::move(s));
            SwitchPort& toReceiver = net.PortTo(4, 2);
            At(0, [&toReceiver] { toReceiver.SendPfc(PacketKind::Pause); });
            At(RESUMED, [&toReceiver] { toReceiver.SendPfc(PacketKind::Resume); });
            net->Run();
            const bool passes = published && (group == 1 || name == "dcqcn" || name == "timely");
            ASSERT_EQ(net.Of(0).end < RESUMED, passes, "ACK");
            ASSERT_GT(net.Of(1).end, RESUMED, "data");
        }
    }
}

TEST("a receiver's NACKs of one gap keep their interval, those of another do not wait")
{
    struct Gap
    {
        std::string what;
        bool published;
        std::vector<std::pair<uint64_t, int>> losses; ///< sequence, how often
        double gapNs;                                 ///< between two NACKs
    };
    // Another gap: a round trip of full packets, and the one that shows it, which is below either interval.
    for (Gap& gap : std::vector<Gap>{{"the same gap again", false, {{100'000, 2}}, 2 * 6240},
                                     {"the same gap again", true, {{100'000, 2}}, 500'000},
                                     {"another gap", false, {{100'000, 1}, {101'000, 2}}, 6420},
                                     {"another gap", true, {{100'000, 1}, {101'000, 2}}, 6420}})
    {
        const Case about(Mode(gap.published) + gap.what);
        const auto drops = [&](const Packet& packet)
        {
            const auto lost =
                std::ranges::find(gap.losses, packet.sequence, &std::pair<uint64_t, int>::first);
            return packet.kind == PacketKind::Data && lost != gap.losses.end() &&
                   lost->second-- > 0;
        };
        Scenario s = With(gap.published, Exact(1, {{0, 1, 10'000'000}}));
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
    Scenario s = With(true, Exact(1, {{0, 1, 1000 * PACKETS}}));
    SetWindow(s, 1000);
    TestNetwork net(std::move(s));
    net->Run();
    const uint64_t arrivals = 2 * LINKS * PACKETS; // of data and ACKs
    const uint64_t ends = 2 * PACKETS;             // of the two cards' transmissions
    const uint64_t start = 10;                     // at most, of the flow and its timer
    ASSERT_GT(Simulator::GetEventCount() + 1, arrivals + ends, "events");
    ASSERT_LT(Simulator::GetEventCount(), arrivals + ends + start, "events");
}

/// Two hosts, and between their switches two paths of equal length, by switch 4 and by switch 5, which differ in delay:
/// the one by the highest id sets the base RTT of a pair of hosts.
TEST("the largest RTT is of the flow's own way, or of the pair's in the published simulator")
{
    for (const auto& [published, byFour, byFive, largest] :
         {std::tuple{false, 1 * US, 5 * US, 5 * US},
          {false, 5 * US, 1 * US, 5 * US},
          {true, 1 * US, 5 * US, 5 * US},
          {true, 5 * US, 1 * US, 1 * US}})
    {
        const Case about(Mode(published) + Shown(byFour / NS) + " and " + Shown(byFive / NS) +
                         " ns");
        Scenario s = NetworkOf(2, 4, {{0, 2}, {1, 3}, {2, 4}, {4, 3}, {2, 5}, {5, 3}});
        s.published = published;
        s.links[2].delay = s.links[3].delay = byFour;
        s.links[4].delay = s.links[5].delay = byFive;
        s.controllers[0].name = "hpcc";
        AddFlows(s, std::vector<FlowRow>(10, {0, 1, 1000})); // some by each path
        std::vector<PathFacts> paths;
        TestNetwork net(std::move(s),
                        [&paths](Flow& flow, const FlowEntry&) { paths.push_back(flow.Path()); });
        net->Run();
        const auto rtt = [](Picos delay) { return 2 * (2 * US + 2 * delay) + 4 * 80 * NS; };
        size_t slow = 0;
        for (size_t i = 0; i < paths.size(); ++i)
        {
            ASSERT_EQ(paths[i].maxBaseRtt, rtt(largest), "largest");
            slow += paths[i].baseRtt == rtt(5 * US) ? 1 : 0;
            if (published)
            {
                const Picos size = IdealTime(1048, 100e9, Rounding::TruncateNs);
                ASSERT_EQ(paths[i].baseRtt, rtt(byFive), "of the pair");
                ASSERT_EQ(net.Of(i).standalone, paths[i].baseRtt + size, "alone");
            }
        }
        ASSERT(published || (slow > 0 && slow < paths.size()), "each flow has its own way's RTT");
    }
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
