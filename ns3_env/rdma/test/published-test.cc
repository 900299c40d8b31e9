// SPDX-License-Identifier: GPL-2.0-or-later
// Does truncated timing follow the published simulator where ties, wake-ups and random numbers decide?
#include "ns3/rng-stream.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3_env/rdma/model/published-wake-up.h"
#include "ns3_env/rdma/model/stream-per-draw.h"

#include <tuple>
#include <vector>

namespace ns3::rdma::test
{

namespace
{

constexpr Picos NS = PS_PER_NS;

/// Serialisation and pacing times lose what the fraction of a second cannot hold.
class TruncationTest : public TestCase
{
  public:
    TruncationTest()
        : TestCase(
              "a serialisation time is a 64-bit binary fraction of a second, cut to nanoseconds")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [bytes, rate, ns] : {std::tuple{1048, 1e9, 8383},
                                              {43, 1e9, 343}, // 344 exactly, 343.99.. in binary
                                              {1000, 100e9, 79},
                                              {1048, 100e9, 83},
                                              {1090, 400e9, 21}})
        {
            NS_TEST_ASSERT_MSG_EQ(SerialisationTime(bytes, rate, Rounding::TruncateNs),
                                  ns * NS,
                                  bytes << " B at " << rate);
        }
        NS_TEST_ASSERT_MSG_EQ(SerialisationTime(1000, 100e9, Rounding::Exact), 80 * NS, "exact");
    }
};

/// Each number is the first of ns-3's next stream.
class StreamPerDrawTest : public TestCase
{
  public:
    StreamPerDrawTest()
        : TestCase("every draw is the first number of a new stream")
    {
    }

  private:
    void DoRun() override
    {
        for (uint64_t run : {1, 7})
        {
            StreamPerDraw draws(1, run, 158);
            for (uint64_t stream = 158; stream < 162; ++stream)
            {
                const double drawn = draws.Draw();
                const double first = RngStream(1, stream, run).RandU01();
                NS_TEST_ASSERT_MSG_EQ(drawn, first, "stream " << stream);
            }
        }
    }
};

/// One timer: never armed for the past, left where it is by a flow that is ready sooner, moved by HPCC.
class WakeUpTest : public TestCase
{
  public:
    WakeUpTest()
        : TestCase("an idle card looks again once, at the time it first saw or a repaced flow gave")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<int64_t> looks;
        PublishedWakeUp timer([&looks] { looks.push_back(ToNanos(NowPicos())); });
        const auto at = [](int64_t ns, auto what) { Simulator::Schedule(Time(ns * NS), what); };
        at(10, [&] { timer.OnIdle(10 * NS, 10 * NS); }); // a closed window's pacing time is past
        at(20, [&] { timer.OnIdle(100 * NS, 20 * NS); });
        at(30, [&] { timer.OnIdle(50 * NS, 30 * NS); }); // sooner, but one is pending
        at(110, [&] { timer.OnIdle(200 * NS, 110 * NS); });
        at(120, [&] { timer.OnRepaced(250 * NS, 120 * NS); }); // later: it stays
        at(130, [&] { timer.OnRepaced(150 * NS, 130 * NS); });
        at(300, [&] { timer.OnIdle(400 * NS, 300 * NS); });
        at(310, [&] { timer.OnRepaced(5 * NS, 310 * NS); });   // long due: at once
        at(500, [&] { timer.OnRepaced(600 * NS, 500 * NS); }); // nothing pending, nothing to move
        Simulator::Run();
        Simulator::Destroy();
        NS_TEST_ASSERT_MSG_EQ((looks == std::vector<int64_t>{100, 150, 310}), true, "times");
    }
};

class PublishedTestSuite : public TestSuite
{
  public:
    PublishedTestSuite()
        : TestSuite("rdma-published", Type::UNIT)
    {
        AddTestCase(new TruncationTest, Duration::QUICK);
        AddTestCase(new StreamPerDrawTest, Duration::QUICK);
        AddTestCase(new WakeUpTest, Duration::QUICK);
    }
};

PublishedTestSuite g_publishedTestSuite;

} // namespace

} // namespace ns3::rdma::test
