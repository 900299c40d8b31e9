// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the published simulator's deviations on a network, beside the default preset.
#include "test-network.h"

#include "ns3/boolean.h"
#include "ns3/rng-stream.h"
#include "ns3/test.h"

#include <array>
#include <utility>

namespace ns3::env::rdma::test
{

namespace
{

constexpr Picos NS = PS_PER_NS;

std::string
Mode(bool published)
{
    return published ? "published: " : "default: ";
}

/// Pause and resume frames each take a stream, though nothing in them is random.
class PfcDrawsTest : public TestCase
{
  public:
    explicit PfcDrawsTest(bool published)
        : TestCase(Mode(published) + "random numbers that PFC frames take"),
          m_published(published)
    {
    }

  private:
    void OnTx(const Packet& packet) { m_frames += packet.flow == nullptr ? 1 : 0; }

    void DoRun() override
    {
        Scenario s = Dumbbell(8, 100e9);
        s.published = m_published;
        s.buffer.bufferBytes = 600'000;
        for (uint32_t i = 0; i < 8; ++i)
        {
            AddFlow(s, i, 8, 200'000);
        }
        const uint64_t streams = 6 * s.isSwitch.size() + 2;
        TestNetwork net(std::move(s));
        for (Port* port : net->Ports())
        {
            port->TraceConnectWithoutContext("Tx", MakeCallback(&PfcDrawsTest::OnTx, this));
        }
        net->Run();
        NS_TEST_ASSERT_MSG_GT(m_frames, 10, "there were pauses");
        const double next = net->Context().random->Draw();
        const double expected =
            m_published ? RngStream(1, streams + m_frames, 1).RandU01() : OneStream().Draw();
        NS_TEST_ASSERT_MSG_EQ(next, expected, "after " << m_frames << " frames");
    }

    bool m_published;
    uint64_t m_frames{0};
};

/// A paused host still answers under DCQCN and TIMELY, whose ACKs are in the high-priority queue, and in other groups
/// than the one that ACKs wait for.
class AckClassTest : public TestCase
{
  public:
    AckClassTest(bool published, std::string controller, uint32_t group, bool passes)
        : TestCase(Mode(published) + "ACKs of " + controller + " in group " +
                   std::to_string(group) +
                   (passes ? " pass a pause" : " wait for the end of a pause")),
          m_published(published),
          m_controller(std::move(controller)),
          m_group(group),
          m_passes(passes)
    {
    }

  private:
    void DoRun() override
    {
        constexpr Picos RESUMED = 50'000 * NS;
        Scenario s = Dumbbell(2, 100e9);
        s.published = m_published;
        s.controllers[0].name = m_controller;
        s.priorityGroup = m_group;
        AddFlow(s, 0, 2, 1000);
        AddFlow(s, 2, 1, 20'000, 1500 * NS); // data of the paused host waits in either case
        TestNetwork net(std::move(s));
        SwitchPort& toReceiver = net.PortTo(4, 2);
        Simulator::Schedule(Time(0), [&toReceiver] { toReceiver.SendPfc(PacketKind::Pause); });
        Simulator::Schedule(Time(RESUMED),
                            [&toReceiver] { toReceiver.SendPfc(PacketKind::Resume); });
        net->Run();
        NS_TEST_ASSERT_MSG_EQ((net->Records()[0].end < RESUMED), m_passes, "ACK");
        NS_TEST_ASSERT_MSG_GT(net->Records()[1].end, RESUMED, "data");
    }

    bool m_published;
    std::string m_controller;
    uint32_t m_group;
    bool m_passes;
};

/// A round trip of 720 us is longer than a receiver waits: it answers one gap twice, and the sender goes back twice. What
/// then comes a second time is answered by nothing, or, where the flow has ended, as by a receiver that never knew it.
class DuplicateTest : public TestCase
{
  public:
    DuplicateTest()
        : TestCase(Mode(true) + "answers to duplicates")
    {
    }

  private:
    bool Drops(const Packet& packet)
    {
        return packet.flow->Id() == 0 && packet.sequence == 100'000 && ++m_lost == 1;
    }

    void OnRx(const Packet& packet)
    {
        if (packet.flow->Id() != 0)
        {
            return;
        }
        const bool nack = packet.kind == PacketKind::Nack;
        m_toForgotten += nack && packet.sequence == 0 ? 1 : 0;
        m_toDuplicates += !nack && packet.sequence <= m_acked ? 1 : 0;
        m_acked = std::max(m_acked, packet.sequence);
    }

    void DoRun() override
    {
        Scenario s = Dumbbell(2, 100e9, 120'000 * NS);
        s.published = true;
        s.controllers[0].attributes = {{"Window", "1000000000"}};
        s.buffer.bufferBytes = 1ULL << 30;
        AddFlow(s, 0, 2, 4'000'000);
        AddFlow(s, 0, 2, 4'000'000);  // makes the gap last: together at half the rate
        AddFlow(s, 2, 1, 50'000'000); // goes on when the others have ended
        TestNetwork net(std::move(s));
        net.PortTo(3, 4).SetDropFilter(MakeCallback(&DuplicateTest::Drops, this));
        net->Nics()[0]->TraceConnectWithoutContext("Rx", MakeCallback(&DuplicateTest::OnRx, this));
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(net->Records()[0].ackedBytes, 4'000'000, "all is acknowledged");
        NS_TEST_ASSERT_MSG_EQ(m_toDuplicates, 0, "ACKs of duplicates");
        NS_TEST_ASSERT_MSG_GT(m_toForgotten, 0, "a new receiver's NACKs");
    }

    uint64_t m_acked{0};
    uint32_t m_lost{0};
    uint32_t m_toDuplicates{0};
    uint32_t m_toForgotten{0};
};

/// The first packet is lost, and every packet is marked: the NACK is all that the sender hears for a round trip.
class NackFeedbackTest : public TestCase
{
  public:
    explicit NackFeedbackTest(bool published)
        : TestCase(Mode(published) + "a NACK carries its packet's mark to the controller"),
          m_published(published)
    {
    }

  private:
    static bool Drops(const Packet& packet) { return packet.sequence == 0 && packet.sentAt == 0; }

    void DoRun() override
    {
        Scenario s = Dumbbell(1, 100e9);
        s.published = m_published;
        s.controllers[0].name = "dctcp";
        s.ecn = {.enabled = true, .kminBytes = -1, .kmaxBytes = -1, .pmax = 1};
        AddFlow(s, 0, 1, 10'000);
        const Flow* flow = nullptr;
        TestNetwork net(std::move(s), [&flow](Flow& made, const FlowEntry&) { flow = &made; });
        net.PortTo(2, 3).SetDropFilter(MakeCallback(&NackFeedbackTest::Drops));
        double rate = 0;
        Simulator::Schedule(Time(7'000 * NS), [&] { rate = flow->RateBps(); });
        net->Run();
        NS_TEST_ASSERT_MSG_GT(rate, 0, "asked while the flow ran");
        NS_TEST_ASSERT_MSG_LT(rate, 100e9, "cut");
    }

    bool m_published;
};

/// A packet is lost as often as `losses` says, and NACKs reach the sender `gapsNs` apart.
class NackTest : public TestCase
{
  public:
    NackTest(std::string what,
             bool published,
             std::vector<std::pair<uint64_t, int>> losses,
             std::vector<int64_t> gapsNs)
        : TestCase(Mode(published) + what),
          m_published(published),
          m_losses(std::move(losses)),
          m_gapsNs(std::move(gapsNs))
    {
    }

  private:
    bool Drops(const Packet& packet)
    {
        for (auto& [sequence, left] : m_losses)
        {
            if (packet.kind == PacketKind::Data && packet.sequence == sequence && left > 0)
            {
                --left;
                return true;
            }
        }
        return false;
    }

    void OnRx(const Packet& packet)
    {
        if (packet.kind == PacketKind::Nack)
        {
            m_nacks.push_back(packet.arrival);
        }
    }

    void DoRun() override
    {
        Scenario s = Dumbbell(1, 100e9);
        s.published = m_published;
        s.buffer.pfc = false;
        s.controllers[0].attributes = {{"Window", "1000000000"}}; // packets keep coming
        AddFlow(s, 0, 1, 10'000'000);
        s.retransmissionTimeout = 100'000'000 * NS;
        TestNetwork net(std::move(s));
        net.PortTo(2, 3).SetDropFilter(MakeCallback(&NackTest::Drops, this));
        net->Nics()[0]->TraceConnectWithoutContext("Rx", MakeCallback(&NackTest::OnRx, this));
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(net->Unfinished(), 0, "the flow ends");
        NS_TEST_ASSERT_MSG_EQ(m_nacks.size(), m_gapsNs.size() + 1, "NACKs");
        for (size_t i = 0; i < m_gapsNs.size(); ++i)
        {
            // the next NACK answers the first packet that comes after the wait is over
            const auto gap = static_cast<double>(m_nacks[i + 1] - m_nacks[i]) / NS;
            NS_TEST_ASSERT_MSG_EQ_TOL(gap, static_cast<double>(m_gapsNs[i]), 100.0, "NACK " << i);
        }
    }

    bool m_published;
    std::vector<std::pair<uint64_t, int>> m_losses;
    std::vector<int64_t> m_gapsNs;
    std::vector<Picos> m_nacks;
};

/// Three flows of one packet in flight each are paused, and the first ends meanwhile: whose turn is next.
class TurnTest : public TestCase
{
  public:
    /// \param before packets that leave before the pause \param next flow of the first packet after it
    TurnTest(bool published, size_t before, uint32_t next)
        : TestCase(Mode(published) + "whose turn it is after flow 0 has ended, flow " +
                   std::to_string(before - 1) + " served last"),
          m_published(published),
          m_before(before),
          m_next(next)
    {
    }

  private:
    void OnTx(const Packet& packet)
    {
        if (packet.kind == PacketKind::Data)
        {
            m_sent.push_back(packet.flow->Id());
        }
    }

    void DoRun() override
    {
        Scenario s = Dumbbell(1, 100e9);
        s.published = m_published;
        s.controllers[0].attributes = {{"Window", "1000"}};
        // the pause takes 1003 ns to the host, a packet 84 ns to the link
        const Picos start = (1010 - 84 * static_cast<Picos>(m_before)) * NS;
        AddFlow(s, 0, 1, 1000, start);
        AddFlow(s, 0, 1, 3000, start);
        AddFlow(s, 0, 1, 3000, start);
        TestNetwork net(std::move(s));
        SwitchPort& toSender = net.PortTo(2, 0);
        Simulator::Schedule(Time(0), [&toSender] { toSender.SendPfc(PacketKind::Pause); });
        Simulator::Schedule(Time(20'000 * NS),
                            [&toSender] { toSender.SendPfc(PacketKind::Resume); });
        net->Nics()[0]->TraceConnectWithoutContext("Tx", MakeCallback(&TurnTest::OnTx, this));
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(m_sent.size(), 7, "packets");
        for (size_t i = 0; i < m_before; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(m_sent[i], i, "before the pause");
        }
        NS_TEST_ASSERT_MSG_EQ(m_sent[m_before], m_next, "after it");
    }

    bool m_published;
    size_t m_before;
    uint32_t m_next;
    std::vector<uint32_t> m_sent;
};

/// At 10 Gb/s sixteen senders come to gaps of more than 4 us, and cuts to the nanosecond of departures.
class TimerTieTest : public TestCase
{
  public:
    TimerTieTest()
        : TestCase("published: DCQCN's timers take their turn with departures")
    {
    }

  private:
    static std::vector<Picos> Ends(bool turns)
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
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ((Ends(true) == Ends(false)), false, "it matters which acts first");
    }
};

/// Two hosts, and between their switches two ways, by switch 4 and by switch 5, of `byFour` and `byFive` a link.
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

/// Where equal-hop paths differ in delay, one path speaks for a pair of hosts: that by the highest id.
class PairPathTest : public TestCase
{
  public:
    PairPathTest(bool published, Picos byFour, Picos byFive, Picos largest)
        : TestCase(Mode(published) + "largest RTT with ways of " + std::to_string(byFour / NS) +
                   " and " + std::to_string(byFive / NS) + " ns a link"),
          m_published(published),
          m_byFour(byFour),
          m_byFive(byFive),
          m_largest(largest)
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = TwoWays(m_published, m_byFour, m_byFive);
        for (uint32_t i = 0; i < 10; ++i) // some by each way
        {
            AddFlow(s, 0, 1, 1000);
        }
        std::vector<PathFacts> paths;
        TestNetwork net(std::move(s),
                        [&paths](Flow& flow, const FlowEntry&) { paths.push_back(flow.Path()); });
        net->Run();
        const Picos serialisation = 4 * SerialisationTimeOfPayload();
        const auto rtt = [serialisation](Picos delay)
        { return 2 * (2000 * NS + 2 * delay) + serialisation; };
        size_t slow = 0;
        for (const PathFacts& path : paths)
        {
            NS_TEST_ASSERT_MSG_EQ(path.maxBaseRtt, rtt(m_largest), "largest");
            const bool isSlow = path.baseRtt == rtt(std::max(m_byFour, m_byFive));
            slow += isSlow ? 1 : 0;
            if (m_published)
            {
                NS_TEST_ASSERT_MSG_EQ(path.baseRtt, rtt(m_byFive), "of the pair");
            }
        }
        if (!m_published)
        {
            NS_TEST_ASSERT_MSG_GT(slow, 0, "each flow has the RTT of its own way");
            NS_TEST_ASSERT_MSG_LT(slow, paths.size(), "each flow has the RTT of its own way");
        }
        const Picos size = IdealTime(1048, 100e9, Rounding::TruncateNs);
        for (size_t i = 0; m_published && i < paths.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(net->Records()[i].standalone, paths[i].baseRtt + size, "alone");
        }
    }

    static Picos SerialisationTimeOfPayload() { return 80 * NS; }

    bool m_published;
    Picos m_byFour;
    Picos m_byFive;
    Picos m_largest;
};

/// Every pause frame is counted at the switch port that sent it, be its peer a switch or a host.
class PauseFramesTest : public TestCase
{
  public:
    PauseFramesTest()
        : TestCase("pause frames are counted where they are sent")
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(8, 100e9);
        s.buffer.bufferBytes = 600'000;
        s.links.back().rateBps =
            25e9; // the second switch pauses the first, and that one the senders
        for (uint32_t i = 0; i < 8; ++i)
        {
            AddFlow(s, i, 8, 200'000);
        }
        TestNetwork net(std::move(s));
        net->Run();
        uint64_t sent = 0;
        for (const auto& [id, sw] : net->Switches())
        {
            for (const auto& port : sw->Ports())
            {
                sent += port->PauseFramesSent();
                NS_TEST_ASSERT_MSG_EQ(port->PauseFramesSent(),
                                      port->Peer().PauseFramesReceived(),
                                      "from " << id << " to " << port->Peer().NodeId());
            }
        }
        NS_TEST_ASSERT_MSG_EQ(sent, net->Context().pfcFrames, "all");
        NS_TEST_ASSERT_MSG_GT(net.PortTo(9, 0).PauseFramesSent(), 0, "to a host");
        NS_TEST_ASSERT_MSG_GT(net.PortTo(10, 9).PauseFramesSent(), 0, "to a switch");
    }
};

class PublishedNetworkTestSuite : public TestSuite
{
  public:
    PublishedNetworkTestSuite()
        : TestSuite("rdma-published-network", Type::UNIT)
    {
        for (const bool published : {false, true})
        {
            AddTestCase(new PfcDrawsTest(published), Duration::QUICK);
            AddTestCase(new NackFeedbackTest(published), Duration::QUICK);
            for (const char* name : {"dcqcn", "timely", "hpcc", "dctcp"})
            {
                const bool prioritised =
                    name == std::string("dcqcn") || name == std::string("timely");
                AddTestCase(new AckClassTest(published, name, 3, published && prioritised),
                            Duration::QUICK);
                AddTestCase(new AckClassTest(published, name, 1, published), Duration::QUICK);
            }
        }
        AddTestCase(new DuplicateTest, Duration::QUICK);
        AddTestCase(new NackTest("the same gap again", false, {{100'000, 2}}, {2 * 6240}),
                    Duration::QUICK);
        AddTestCase(new NackTest("the same gap again", true, {{100'000, 2}}, {500'000}),
                    Duration::QUICK);
        for (const bool published : {false, true})
        {
            // a round trip of full packets, and the one that shows the second gap: below either interval
            AddTestCase(
                new NackTest("another gap", published, {{100'000, 1}, {101'000, 2}}, {6420}),
                Duration::QUICK);
        }
        AddTestCase(new TurnTest(false, 3, 1), Duration::QUICK);
        AddTestCase(new TurnTest(false, 2, 2), Duration::QUICK);
        AddTestCase(new TurnTest(true, 3, 2), Duration::QUICK);
        AddTestCase(new TurnTest(true, 2, 1), Duration::QUICK);
        AddTestCase(new TimerTieTest, Duration::QUICK);
        AddTestCase(new PairPathTest(false, 1000 * NS, 5000 * NS, 5000 * NS), Duration::QUICK);
        AddTestCase(new PairPathTest(false, 5000 * NS, 1000 * NS, 5000 * NS), Duration::QUICK);
        AddTestCase(new PairPathTest(true, 1000 * NS, 5000 * NS, 5000 * NS), Duration::QUICK);
        AddTestCase(new PairPathTest(true, 5000 * NS, 1000 * NS, 1000 * NS), Duration::QUICK);
        AddTestCase(new PauseFramesTest, Duration::QUICK);
    }
};

PublishedNetworkTestSuite g_publishedNetworkTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
