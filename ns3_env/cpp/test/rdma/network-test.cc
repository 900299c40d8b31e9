// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the RDMA network: completion times, PFC, loss recovery, fairness of the NIC.
#include "test-network.h"

#include "ns3/test.h"

#include <cmath>

namespace ns3::env::rdma::test
{

namespace
{

constexpr double GBPS = 1e9;
constexpr Picos NS = PS_PER_NS;

/// A flow alone takes the time that docs/sources/published-simulator.md gives, to the nanosecond.
class LoneFlowTest : public TestCase
{
  public:
    LoneFlowTest(std::string controller, uint64_t bytes, int64_t fctNs)
        : TestCase(controller + " alone, " + std::to_string(bytes) + " B"),
          m_controller(std::move(controller)),
          m_bytes(bytes),
          m_fctNs(fctNs)
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(4, 100 * GBPS);
        s.controllers[0].name = m_controller;
        AddFlow(s, 0, 4, m_bytes, 77 * NS);
        TestNetwork net(std::move(s));
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(net->Records()[0].end - 77 * NS, m_fctNs * NS, "completion time");
        NS_TEST_ASSERT_MSG_EQ(net->Context().pool.LiveCount(), 0, "packets left behind");
    }

    std::string m_controller;
    uint64_t m_bytes;
    int64_t m_fctNs;
};

/// Four senders at line rate fill the bottleneck at three times the link rate (Zheng 2024, Fig. 3.2).
class QueueSlopeTest : public TestCase
{
  public:
    QueueSlopeTest()
        : TestCase("queue grows at 3 x the link rate")
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(4, 1 * GBPS);
        s.published = false;
        s.timeLimit = 2'000'000 * NS;
        s.buffer.pfc = false;
        for (uint32_t i = 0; i < 4; ++i)
        {
            AddFlow(s, i, 4, 10'000'000);
        }
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
        NS_TEST_ASSERT_MSG_EQ_TOL(slope, 3 * GBPS, 0.02 * GBPS, "slope in bit/s");
    }
};

/// With PFC on nothing is ever lost, and pauses spread over two switches to the senders.
class PfcLosslessTest : public TestCase
{
  public:
    explicit PfcLosslessTest(bool pfc)
        : TestCase(pfc ? "PFC loses nothing" : "the same incast without PFC does lose"),
          m_pfc(pfc)
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(8, 100 * GBPS);
        s.buffer.bufferBytes = 600'000; // little above reserves and headrooms
        s.buffer.pfc = m_pfc;
        s.controllers[0].attributes = {{"Window", "100000"}};
        s.retransmissionTimeout = 1'000'000 * NS;
        // The slow last hop makes the second switch pause the first, and that one the senders.
        s.links.back().rateBps = 25 * GBPS;
        for (uint32_t i = 0; i < 8; ++i)
        {
            AddFlow(s, i, 8, 500'000);
        }
        TestNetwork net(std::move(s));
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(net->Unfinished(), 0, "every flow ends");
        NS_TEST_ASSERT_MSG_EQ(net->Context().pool.LiveCount(), 0, "packets left behind");
        if (!m_pfc)
        {
            NS_TEST_ASSERT_MSG_GT(net->Context().droppedPackets, 0, "the buffer was too small");
            return;
        }
        NS_TEST_ASSERT_MSG_EQ(net->Context().droppedPackets, 0, "lost packets");
        NS_TEST_ASSERT_MSG_GT(net.PortTo(9, 10).PauseFramesReceived(), 0, "pause between switches");
        NS_TEST_ASSERT_MSG_GT(net->Nics()[0]->PauseFramesReceived(), 0, "pause of a sender");
        for (const auto& [id, sw] : net->Switches())
        {
            NS_TEST_ASSERT_MSG_EQ(sw->Buffer().UsedBytes(), 0, "buffer of switch " << id);
        }
    }

    bool m_pfc;
};

/// A link that holds less than a frame needs frames of headroom, or a pause comes too late.
class HeadroomTest : public TestCase
{
  public:
    explicit HeadroomTest(uint32_t frames)
        : TestCase(std::to_string(frames) + " frames of headroom on slow links"),
          m_frames(frames)
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(4, 1 * GBPS);
        s.buffer.bufferBytes = 200'000;
        s.buffer.headroomFrames = m_frames;
        s.timeLimit = 20'000'000 * NS;
        for (uint32_t i = 0; i < 4; ++i)
        {
            AddFlow(s, i, 4, 2'000'000);
        }
        TestNetwork net(std::move(s));
        net->Run();
        NS_TEST_ASSERT_MSG_EQ((net->Context().droppedPackets == 0), (m_frames == 2), "lossless");
    }

    uint32_t m_frames;
};

/// A packet or ACK lost at any place is sent again, and the flow ends.
class LossRecoveryTest : public TestCase
{
  public:
    LossRecoveryTest(std::string what, PacketKind kind, uint64_t nth, bool needsTimeout)
        : TestCase("a lost " + what + " is recovered"),
          m_kind(kind),
          m_nth(nth),
          m_needsTimeout(needsTimeout)
    {
    }

  private:
    bool Drops(const Packet& packet) { return packet.kind == m_kind && ++m_seen == m_nth; }

    void DoRun() override
    {
        Scenario s = Dumbbell(1, 100 * GBPS);
        s.controllers[0].attributes = {{"Window", "20000"}};
        s.retransmissionTimeout = 100'000 * NS;
        AddFlow(s, 0, 1, 50'000);
        TestNetwork net(std::move(s));
        Port& port = m_kind == PacketKind::Data ? net.PortTo(2, 3) : net.PortTo(3, 2);
        port.SetDropFilter(MakeCallback(&LossRecoveryTest::Drops, this));
        net->Run();
        const FlowRecord& flow = net->Records()[0];
        NS_TEST_ASSERT_MSG_GT(flow.end, 0, "the flow ends");
        NS_TEST_ASSERT_MSG_EQ(flow.ackedBytes, 50'000, "all is acknowledged");
        NS_TEST_ASSERT_MSG_EQ((flow.timeouts > 0), m_needsTimeout, "by timeout");
        if (m_kind == PacketKind::Data)
        {
            NS_TEST_ASSERT_MSG_GT(flow.retransmittedBytes, 0, "something was sent again");
        }
        NS_TEST_ASSERT_MSG_EQ(net->TransmittedPayload(),
                              net->DeliveredPayload() + net->Context().droppedPayload,
                              "conservation of bytes");
    }

    PacketKind m_kind;
    uint64_t m_nth;
    bool m_needsTimeout;
    uint64_t m_seen{0};
};

/// Flows of one NIC take turns packet by packet: equal flows end within a packet of each other.
class RoundRobinTest : public TestCase
{
  public:
    RoundRobinTest()
        : TestCase("a NIC serves its flows in turn")
    {
    }

  private:
    void DoRun() override
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
            NS_TEST_ASSERT_MSG_EQ(net->Records()[i].end - net->Records()[i - 1].end,
                                  83 * NS,
                                  "one packet time apart");
        }
    }
};

/// A window under one packet sends one packet every packet / window base RTTs (docs/sources/mpcc.md).
class FractionalWindowTest : public TestCase
{
  public:
    FractionalWindowTest()
        : TestCase("a window under one packet is paced")
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(1, 100 * GBPS);
        s.controllers[0].attributes = {{"Window", "262"}}; // a quarter of 1048 B
        AddFlow(s, 0, 1, 11'000);
        TestNetwork net(std::move(s));
        net->Run();
        const double gapNs = 6240.0 * 1048 / 262;
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(net->Records()[0].end) / NS,
                                  10 * gapNs + 6261,
                                  11.0,
                                  "ten gaps and one round trip");
    }
};

/// A pacing rate spaces packets by wire bytes / rate.
class PacingTest : public TestCase
{
  public:
    PacingTest()
        : TestCase("pacing spaces packets by wire bytes over rate")
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(1, 100 * GBPS);
        AddFlow(s, 0, 1, 11'000);
        TestNetwork net(std::move(s),
                        [](Flow& flow, const FlowEntry&) { flow.SetRate(10 * GBPS); });
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(net->Records()[0].end,
                              (10 * 838 + 6261) * NS,
                              "ten gaps of 838 ns and one round trip");
    }
};

class NetworkTestSuite : public TestSuite
{
  public:
    NetworkTestSuite()
        : TestSuite("rdma-network", Type::UNIT)
    {
        AddTestCase(new LoneFlowTest("fixed-window", 1000, 6261), Duration::QUICK);
        AddTestCase(new LoneFlowTest("fixed-window", 1500, 6304), Duration::QUICK);
        AddTestCase(new LoneFlowTest("fixed-window", 20'000'000, 1666178), Duration::QUICK);
        AddTestCase(new LoneFlowTest("hpcc", 1000, 6282), Duration::QUICK);
        AddTestCase(new LoneFlowTest("hpcc", 1500, 6329), Duration::QUICK);
        AddTestCase(new LoneFlowTest("hpcc", 20'000'000, 1840962), Duration::QUICK);
        AddTestCase(new QueueSlopeTest, Duration::QUICK);
        AddTestCase(new PfcLosslessTest(true), Duration::QUICK);
        AddTestCase(new PfcLosslessTest(false), Duration::QUICK);
        AddTestCase(new HeadroomTest(2), Duration::QUICK);
        AddTestCase(new HeadroomTest(0), Duration::QUICK);
        AddTestCase(new LossRecoveryTest("first packet", PacketKind::Data, 1, false),
                    Duration::QUICK);
        AddTestCase(new LossRecoveryTest("middle packet", PacketKind::Data, 20, false),
                    Duration::QUICK);
        AddTestCase(new LossRecoveryTest("last packet", PacketKind::Data, 50, true),
                    Duration::QUICK);
        AddTestCase(new LossRecoveryTest("ACK", PacketKind::Ack, 10, false), Duration::QUICK);
        AddTestCase(new LossRecoveryTest("last ACK", PacketKind::Ack, 50, true), Duration::QUICK);
        AddTestCase(new RoundRobinTest, Duration::QUICK);
        AddTestCase(new FractionalWindowTest, Duration::QUICK);
        AddTestCase(new PacingTest, Duration::QUICK);
    }
};

NetworkTestSuite g_networkTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
