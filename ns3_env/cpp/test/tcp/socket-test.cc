// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of RTT-driven MPC and T-DCTCP in ns-3's own TCP, on a dumbbell of sockets.
#include "socket-pair.h"

#include "ns3/double.h"
#include "ns3/test.h"

#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

/// Of a link of 100 Mb/s: 1000 of 1042 B, with 20 B of TCP, 20 of IP and 2 of PPP.
constexpr double PAYLOAD_BPS = 100e6 * 1000 / 1042;
constexpr double MS = 1e6; // nanoseconds

class RttMpcSocketCase : public TestCase
{
  public:
    RttMpcSocketCase()
        : TestCase("rttmpc alone fills the link and holds the RTT halfway up the queue")
    {
    }

  private:
    void DoRun() override
    {
        SocketPairs net({.bufferPackets = 120}, {ObjectFactory("tcp::rttmpc")});
        const FlowSeen seen = net.Run(Seconds(2), Seconds(4)).front();
        NS_TEST_EXPECT_MSG_EQ_TOL(seen.goodputBps / PAYLOAD_BPS, 1, 0.01, "goodput");
        // empty 10.1 ms, full 20.1 ms
        NS_TEST_EXPECT_MSG_GT(seen.meanRttNs, 12 * MS, "a queue stands");
        NS_TEST_EXPECT_MSG_LT(seen.meanRttNs, 18 * MS, "it is not full");
        NS_TEST_EXPECT_MSG_LT(seen.rttDeviationNs, 1.5 * MS, "the RTT is smooth");
    }
};

class RttMpcLossCase : public TestCase
{
  public:
    RttMpcLossCase()
        : TestCase("rttmpc loses packets in a small buffer and goes on")
    {
    }

  private:
    void DoRun() override
    {
        SocketPairs net(
            {.bufferPackets = 15},
            std::vector<ObjectFactory>(2,
                                       ObjectFactory("tcp::rttmpc", "ProbeRtts", DoubleValue(30))));
        const std::vector<FlowSeen> seen = net.Run(Seconds(2), Seconds(5));
        NS_TEST_EXPECT_MSG_GT((seen[0].goodputBps + seen[1].goodputBps) / PAYLOAD_BPS,
                              0.75,
                              "goodput");
        for (const FlowSeen& flow : seen)
        {
            NS_TEST_EXPECT_MSG_GT(flow.goodputBps / PAYLOAD_BPS, 0.1, "a flow's part");
            // empty 10.1 ms, full 11.4 ms: what a recovery takes is no RTT
            NS_TEST_EXPECT_MSG_LT(flow.meanRttNs, 12 * MS, "the RTT");
        }
    }
};

class RttMpcCapCase : public TestCase
{
  public:
    RttMpcCapCase()
        : TestCase("rttmpc flows keep caps that fit the link, without a queue")
    {
    }

  private:
    void DoRun() override
    {
        const double caps[] = {20e6, 50e6, 0.5e6}; // the last: less than a packet per RTT
        std::vector<ObjectFactory> controllers;
        for (double bps : caps)
        {
            controllers.emplace_back("tcp::rttmpc",
                                     "InitialRate",
                                     DataRateValue(DataRate(static_cast<uint64_t>(bps / 2))),
                                     "MinRate",
                                     DataRateValue(DataRate("100kb/s")),
                                     "MaxRate",
                                     DataRateValue(DataRate(static_cast<uint64_t>(bps))));
        }
        SocketPairs net({.bufferPackets = 120}, controllers);
        const std::vector<FlowSeen> seen = net.Run(Seconds(1), Seconds(3));
        for (size_t i = 0; i < seen.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(seen[i].goodputBps / caps[i], 1, 0.02, "flow " << i);
        }
        NS_TEST_EXPECT_MSG_LT(net.MeanQueuePackets(), 2, "the queue");
    }
};

class TDctcpMarkCase : public TestCase
{
  public:
    TDctcpMarkCase()
        : TestCase("tdctcp below T_low grows until marks cut it, near the threshold")
    {
    }

  private:
    void DoRun() override
    {
        SocketPairs net({.delay = MicroSeconds(200), .bufferPackets = 400, .markAtPackets = 20},
                        std::vector<ObjectFactory>(2, ObjectFactory("tcp::tdctcp")));
        const std::vector<FlowSeen> seen = net.Run(Seconds(1), Seconds(3));
        const double sum = seen[0].goodputBps + seen[1].goodputBps;
        NS_TEST_EXPECT_MSG_GT(sum / PAYLOAD_BPS, 0.95, "goodput");
        NS_TEST_EXPECT_MSG_LT(net.MeanQueuePackets(), 30, "the queue");
        NS_TEST_EXPECT_MSG_GT(net.MeanQueuePackets(), 5, "which is not empty");
    }
};

class TDctcpRttCase : public TestCase
{
  public:
    TDctcpRttCase()
        : TestCase("tdctcp above T_low needs no mark: a rising RTT holds the queue, the same bits "
                   "each time")
    {
    }

  private:
    void DoRun() override
    {
        double goodputBps[2] = {};
        for (double& bps : goodputBps)
        {
            SocketPairs net({.bufferPackets = 1200}, {ObjectFactory("tcp::tdctcp")});
            bps = net.Run(Seconds(1), Seconds(2)).front().goodputBps;
            NS_TEST_EXPECT_MSG_GT(bps / PAYLOAD_BPS, 0.95, "goodput");
            NS_TEST_EXPECT_MSG_LT(net.MeanQueuePackets(), 100, "the queue");
        }
        NS_TEST_EXPECT_MSG_EQ(goodputBps[0], goodputBps[1], "again");
    }
};

class SocketTestSuite : public TestSuite
{
  public:
    SocketTestSuite()
        : TestSuite("tcp-sockets", Type::SYSTEM)
    {
        AddTestCase(new RttMpcSocketCase, TestCase::Duration::QUICK);
        AddTestCase(new RttMpcLossCase, TestCase::Duration::QUICK);
        AddTestCase(new RttMpcCapCase, TestCase::Duration::QUICK);
        AddTestCase(new TDctcpMarkCase, TestCase::Duration::QUICK);
        AddTestCase(new TDctcpRttCase, TestCase::Duration::QUICK);
    }
};

SocketTestSuite g_socketTestSuite;

} // namespace

} // namespace ns3::env::tcp::test
