// SPDX-License-Identifier: GPL-2.0-or-later
// Does each law compute what its paper says? Hand-made feedback against hand-computed answers.
#include "fake-flow.h"
#include "scenarios.h"

#include "ns3/object-factory.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"
#include "ns3_env/rdma/congestion-control/dcqcn.h"
#include "ns3_env/rdma/congestion-control/dctcp.h"
#include "ns3_env/rdma/congestion-control/swift.h"

#include <cmath>
#include <set>

namespace ns3::rdma::test
{

namespace
{

constexpr double GBPS = 1e9;
constexpr Picos NS = PS_PER_NS;
constexpr Picos US = 1000 * NS;

/// alpha and the cuts of DCTCP over three windows.
class DctcpAlphaTest : public TestCase
{
  public:
    DctcpAlphaTest()
        : TestCase("dctcp: alpha is the average fraction of marks, and cuts once per window")
    {
    }

  private:
    static void Ack(Dctcp& law, FakeFlow& flow, uint64_t acked, bool marked)
    {
        flow.Acked(acked);
        law.OnAck(flow, {.ackedBytes = acked, .newlyAckedBytes = 1000, .ecnMarked = marked});
    }

    void DoRun() override
    {
        const PathFacts facts = DumbbellFacts(1048);
        FakeFlow flow(facts);
        auto law = CreateObject<Dctcp>();
        law->OnFlowStart(flow);
        NS_TEST_ASSERT_MSG_EQ(flow.WindowBytes(), 78000, "a BDP at line rate");
        flow.Sent(78000);
        Ack(*law, flow, 1000, false); // the first window: 79 packets, ends at byte 78000
        NS_TEST_ASSERT_MSG_EQ(flow.RateBps(), 100 * GBPS, "no faster than the line");
        for (uint64_t packet = 2; packet <= 78; ++packet)
        {
            Ack(*law, flow, packet * 1000, packet <= 41); // 40 marks
        }
        NS_TEST_ASSERT_MSG_EQ(flow.RateBps(), 50 * GBPS, "one cut by alpha / 2 = 1 / 2");
        NS_TEST_ASSERT_MSG_EQ(flow.WindowBytes(), 39000, "half a BDP");
        NS_TEST_ASSERT_MSG_EQ(law->Alpha(), 1.0, "the window is not over");

        flow.Sent(120'000);
        Ack(*law, flow, 79'000, false); // the second window: 42 packets, ends at byte 120000
        const double second = 15.0 / 16 + 40.0 / 79 / 16;
        NS_TEST_ASSERT_MSG_EQ_TOL(law->Alpha(), second, 1e-15, "40 marks in 79 packets");
        NS_TEST_ASSERT_MSG_EQ_TOL(flow.RateBps(), 50.615 * GBPS, 1.0, "+ 615 Mb/s");
        for (uint64_t packet = 80; packet <= 120; ++packet)
        {
            Ack(*law, flow, packet * 1000, packet > 110); // 10 marks
        }
        const double cut = 50.615 * GBPS * (1 - second / 2);
        NS_TEST_ASSERT_MSG_EQ_TOL(flow.RateBps(), cut, 1.0, "cut by the new alpha");

        flow.Sent(150'000);
        Ack(*law, flow, 121'000, false);
        const double third = second * 15 / 16 + 10.0 / 42 / 16;
        NS_TEST_ASSERT_MSG_EQ_TOL(law->Alpha(), third, 1e-15, "10 marks in 42 packets");
    }
};

/// DCQCN with a timer for everything, one nanosecond after the other.
class StepwiseDcqcn
{
  public:
    static constexpr int64_t ALPHA_NS = 1000;
    static constexpr int64_t DECREASE_NS = 4000;
    static constexpr int64_t INCREASE_NS = 300'000;

    /// `ns` counts from the first mark; order of events at one time as in REFERENCE.md, "Controllers".
    void Step(int64_t ns, bool marked)
    {
        m_markedAlpha |= marked; // a mark at the instant of alpha's step counts in it
        if (ns % ALPHA_NS == 0)
        {
            alpha = alpha * (1 - GAIN) + (m_markedAlpha ? GAIN : 0.0);
            m_markedAlpha = false;
        }
        if (ns == m_increaseAt)
        {
            Increase();
            m_increaseAt = ns + INCREASE_NS;
        }
        if (ns > 1 && ns % DECREASE_NS == 1 && m_markedDecrease)
        {
            m_target = m_stage > 0 ? rate : m_target;
            rate = std::max(1 * GBPS, std::floor(rate * (1 - alpha / 2)));
            m_stage = 0;
            m_markedDecrease = false;
            m_increaseAt = ns + INCREASE_NS;
            ++cuts;
        }
        m_markedDecrease |= marked; // one at the instant of a check waits for the next
    }

    double alpha{1.0};
    double rate{100 * GBPS};
    int cuts{0};
    int increases{0};

  private:
    static constexpr double GAIN = 1.0 / 256;

    void Increase()
    {
        if (m_stage > 0)
        {
            m_target = std::min(100 * GBPS, m_target + (m_stage == 1 ? 20e6 : 200e6));
        }
        rate = std::floor(rate / 2) + std::floor(m_target / 2);
        ++m_stage;
        ++increases;
    }

    double m_target{100 * GBPS};
    bool m_markedAlpha{false};
    bool m_markedDecrease{true}; // by the first mark
    int m_stage{0};
    int64_t m_increaseAt{-1};
};

/// Timers worked off when a packet leaves or an ACK comes give what a timer per microsecond gives.
class DcqcnLazyTest : public TestCase
{
  public:
    DcqcnLazyTest()
        : TestCase("dcqcn: rate and alpha without timers equal those stepped by timers")
    {
    }

  private:
    void DoRun() override
    {
        constexpr Picos FIRST = 12'345'678; // off every grid
        constexpr int64_t END_NS = 8'000'000;
        const PathFacts facts = DumbbellFacts(1048);
        FakeFlow flow(facts);
        auto law = CreateObject<Dcqcn>();
        law->OnFlowStart(flow);
        std::set<int64_t> marks; // dense, single, absent for milliseconds, dense again
        for (int64_t ns = 500; ns < 200'000; ns += 1000 * (1 + ns % 7))
        {
            marks.insert(ns);
        }
        marks.insert({240'400, 260'000, 264'001, 650'700, 1'800'300, 1'800'600});
        for (int64_t ns = 5'000'350; ns < 5'020'000; ns += 700)
        {
            marks.insert(ns);
        }
        StepwiseDcqcn steps;
        law->OnAck(flow, {.now = FIRST, .ecnMarked = true});
        for (int64_t ns = 1; ns < END_NS; ++ns)
        {
            const bool marked = marks.contains(ns);
            steps.Step(ns, marked);
            if (marked)
            {
                law->OnAck(flow, {.now = FIRST + ns * NS, .ecnMarked = true});
            }
            else if (ns % 1000 == 250)
            {
                law->OnPacketSent(flow, FIRST + ns * NS, 1048);
            }
            else
            {
                continue;
            }
            NS_TEST_ASSERT_MSG_EQ_TOL(flow.RateBps(), steps.rate, 1e-3, "rate at " << ns << " ns");
            if (marked && ns % StepwiseDcqcn::ALPHA_NS != 0)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(law->Alpha(), steps.alpha, 1e-12, "at " << ns << " ns");
            }
        }
        NS_TEST_ASSERT_MSG_GT(steps.cuts, 20, "the marks cut");
        NS_TEST_ASSERT_MSG_GT(steps.increases, 15, "the pauses raise");
    }
};

/// A round trip at a time, RTT in microseconds.
class TimelyFactorTest : public TestCase
{
  public:
    TimelyFactorTest()
        : TestCase("timely: the factor of each region of the RTT")
    {
    }

  private:
    void Window(double rttUs, double expectedGbps, const std::string& why)
    {
        m_flow.Sent(m_flow.SentBytes() + 2000);
        m_flow.Acked(m_flow.SentBytes() - 1000); // past the end of the last window
        m_law->OnAck(m_flow, {.rtt = static_cast<Picos>(rttUs * US)});
        NS_TEST_ASSERT_MSG_EQ_TOL(m_flow.RateBps() / GBPS, expectedGbps, 1e-9, why);
    }

    void DoRun() override
    {
        Window(100, 100, "the first window has no gradient");
        // difference 0.875 * 20 us over 20 us: gradient 0.875
        Window(120, 100 * 0.3, "1 - 0.8 * 0.875");
        // difference 0.125 * 17.5 us: gradient 0.109375
        Window(120, 30 * 0.9125, "1 - 0.8 * 0.109375");
        Window(110, 27.475, "a falling RTT: + 100 Mb/s");
        Window(1000, 27.475 * 0.6, "above 500 us: 1 - 0.8 (1 - 500 / 1000)");
        for (int i = 1; i <= 5; ++i)
        {
            Window(40, 16.485 + 0.1 * i, "below 50 us: + 100 Mb/s");
        }
        Window(40, 17.485, "from the sixth increase on: + 500 Mb/s");
        Window(490, 1.0, "a steep gradient: the factor is 0, the rate the least");
    }

    PathFacts m_facts = DumbbellFacts(1056);
    FakeFlow m_flow{m_facts};
    Ptr<CongestionControl> m_law = ObjectFactory("rdma::timely").Create<CongestionControl>();
};

/// Kumar 2020, sec. 3.5, for two switches.
class SwiftTargetTest : public TestCase
{
  public:
    SwiftTargetTest()
        : TestCase("swift: the target grows with hops and with small windows")
    {
    }

  private:
    void DoRun() override
    {
        const PathFacts facts = DumbbellFacts(1056);
        auto law = CreateObject<Swift>();
        NS_TEST_ASSERT_MSG_EQ(law->TargetDelay(facts, 100), 26'100 * NS, "20 us + 2 * 3.05 us");
        NS_TEST_ASSERT_MSG_EQ(law->TargetDelay(facts, 5000), 26'100 * NS, "no less than that");
        NS_TEST_ASSERT_MSG_EQ(law->TargetDelay(facts, 0.1), 126'100 * NS, "fs_range on top");
        NS_TEST_ASSERT_MSG_EQ(law->TargetDelay(facts, 0.01), 126'100 * NS, "no more than that");
        // (1 / sqrt(1) - 1 / sqrt(100)) / (1 / sqrt(0.1) - 1 / sqrt(100)) = 0.9 / 3.0622777
        const double one = 26'100 + 100e3 * 0.9 / (std::sqrt(10.0) - 0.1);
        NS_TEST_ASSERT_MSG_EQ_TOL(law->TargetDelay(facts, 1) / 1e3, one, 1e-3, "one packet");
        PathFacts far = facts;
        far.baseRtt = 30 * US;
        NS_TEST_ASSERT_MSG_EQ(law->TargetDelay(far, 100), 36'100 * NS, "never below the base RTT");
    }
};

/// Kumar 2020, Algorithm 1, line by line.
class SwiftWindowTest : public TestCase
{
  public:
    SwiftWindowTest()
        : TestCase("swift: adds below the target, cuts above it once per round trip")
    {
    }

  private:
    void Ack(Picos now, Picos rtt, uint32_t bytes = 1000)
    {
        m_law->OnAck(m_flow, {.now = now, .rtt = rtt, .newlyAckedBytes = bytes});
    }

    void DoRun() override
    {
        m_law->OnFlowStart(m_flow);
        NS_TEST_ASSERT_MSG_EQ(m_law->WindowPackets(), 78, "a BDP");
        Ack(10 * US, 10 * US);
        double window = 78 + 1.0 / 78;
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window, 1e-12, "ai / cwnd per packet");
        Ack(11 * US, 10 * US, 0);
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window, 1e-12, "a duplicate adds none");

        const double target = static_cast<double>(m_law->TargetDelay(m_facts, window)) / US;
        Ack(60 * US, 40 * US);
        window *= 1 - 0.8 * (40 - target) / 40;
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window, 1e-9, "cut by the excess");
        Ack(99 * US, 40 * US);
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window, 1e-9, "an RTT is not over");
        Ack(2200 * US, 2000 * US);
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window / 2, 1e-9, "at most half");
        NS_TEST_ASSERT_MSG_EQ_TOL(m_flow.WindowBytes(), window * 500, 1e-6, "in payload");
        NS_TEST_ASSERT_MSG_EQ(m_flow.RateBps(), 100 * GBPS, "the window alone");
        window /= 2;

        Ack(2300 * US, 10 * US);
        window += 1 / window;
        m_law->OnNack(m_flow, 2400 * US);
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window / 2, 1e-9, "fast recovery");
        m_law->OnNack(m_flow, 2401 * US);
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window / 2, 1e-9, "once per RTT");
        m_law->OnTimeout(m_flow, 3000 * US);
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window / 4, 1e-9, "timeout");
        for (int i = 2; i <= 4; ++i)
        {
            m_law->OnTimeout(m_flow, 3000 * US + i * NS);
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), window / 4, 1e-9, "four in a row");
        m_law->OnTimeout(m_flow, 3001 * US);
        NS_TEST_ASSERT_MSG_EQ(m_law->WindowPackets(), 0.01, "the fifth: the least window");
        // Last RTT 10 us: one packet per 10 us / 0.01 is L * 0.01 * 6.24 / 10 for the queue pair, but
        // no less than the floor.
        NS_TEST_ASSERT_MSG_EQ(m_flow.WindowBytes(), m_law->GetWindowFloor(m_flow), "floor");
        Ack(4000 * US, 12'480 * NS, 490);
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), 0.5, 1e-9, "ai per packet below one");
        NS_TEST_ASSERT_MSG_EQ_TOL(m_flow.WindowBytes(), 0.25 * 1056, 1e-6, "rtt / cwnd apart");
        for (int i = 0; i < 60'000; ++i)
        {
            Ack(5000 * US, 10 * US);
        }
        // 100 Gb/s * 26.1 us in packets of 1056 B on the wire
        NS_TEST_ASSERT_MSG_EQ_TOL(m_law->WindowPackets(), 326'250.0 / 1056, 1e-6, "the largest");
    }

    PathFacts m_facts = DumbbellFacts(1056);
    FakeFlow m_flow{m_facts};
    Ptr<Swift> m_law = CreateObject<Swift>();
};

/// Thirty-two flows where eight packets fill path and target: no loss, and a queue at the target.
class SwiftIncastTest : public TestCase
{
  public:
    SwiftIncastTest()
        : TestCase("swift: windows below one packet hold an incast at the target delay")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t FLOWS = 32;
        constexpr Picos LATE = 15'000 * US;
        Scenario s = Dumbbell(FLOWS, 1 * GBPS);
        s.controllers[0].name = "swift";
        for (uint32_t i = 0; i < FLOWS; ++i)
        {
            AddFlow(s, i, FLOWS, 100'000); // 27 ms together
        }
        TestNetwork net(std::move(s));
        double queue = 0;
        double window = 0;
        Simulator::Schedule(
            Time(LATE),
            [&]()
            {
                queue = static_cast<double>(net.PortTo(FLOWS + 1, FLOWS + 2).QueueBytes());
                for (const QueuePair* flow : net->LiveFlows())
                {
                    window += dynamic_cast<const Swift&>(flow->Control()).WindowPackets() / FLOWS;
                }
            });
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(net->Unfinished(), 0, "every flow ends");
        NS_TEST_ASSERT_MSG_EQ(net->Context().droppedPackets, 0, "lossless");
        NS_TEST_ASSERT_MSG_LT(window, 1.0, "less than a packet each");
        NS_TEST_ASSERT_MSG_GT(queue, 1056, "the link is busy");
        // Base RTT, two hops and the whole range: 30 + 6.1 + 100 us at 1 Gb/s.
        NS_TEST_ASSERT_MSG_LT(queue, 136.1e-6 * GBPS / 8, "queue within the target");
    }
};

class ControlLawTestSuite : public TestSuite
{
  public:
    ControlLawTestSuite()
        : TestSuite("rdma-control-laws", Type::UNIT)
    {
        AddTestCase(new DctcpAlphaTest, Duration::QUICK);
        AddTestCase(new DcqcnLazyTest, Duration::QUICK);
        AddTestCase(new TimelyFactorTest, Duration::QUICK);
        AddTestCase(new SwiftTargetTest, Duration::QUICK);
        AddTestCase(new SwiftWindowTest, Duration::QUICK);
        AddTestCase(new SwiftIncastTest, Duration::QUICK);
    }
};

ControlLawTestSuite g_controlLawTestSuite;

} // namespace

} // namespace ns3::rdma::test
