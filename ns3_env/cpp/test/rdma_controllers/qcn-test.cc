// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of QCN's reaction point (IEEE 802.1Q): hand-made feedback, hand-computed rates.
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/test.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"

#include <memory>

namespace ns3::env::rdma::test
{

namespace
{

constexpr double MBPS = 1e6;
constexpr Picos MS = 1'000'000 * PS_PER_NS;
constexpr uint32_t FRAME = 1000;

/// A flow at 1 Gb/s, driven by hand.
class QcnCase : public TestCase
{
  public:
    using TestCase::TestCase;

  protected:
    void Start(double rateBps = 1e9)
    {
        m_facts = DumbbellFacts(FRAME, rateBps);
        m_flow = std::make_unique<FakeFlow>(m_facts);
        m_controller->OnFlowStart(*m_flow);
    }
    void Notify(uint32_t feedback)
    {
        m_controller->OnCongestionNotification(*m_flow, {.now = m_now, .feedback = feedback});
    }
    /// Frames at one instant, so that the timer stands still.
    void Send(uint32_t frames)
    {
        for (uint32_t i = 0; i < frames; ++i)
        {
            m_controller->OnPacketSent(*m_flow, m_now, FRAME);
        }
    }
    void Pass(Picos time)
    {
        m_now += time;
        Send(1); // a timer is worked off as a packet leaves
    }
    void Is(double mbps, const std::string& why)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(m_flow->RateBps() / MBPS, mbps, 1e-9 * mbps, why);
    }

    Picos m_now{0};
    PathFacts m_facts;
    std::unique_ptr<FakeFlow> m_flow;
    Ptr<CongestionControl> m_controller = ObjectFactory("rdma::qcn").Create<CongestionControl>();
};

class DecreaseTest : public QcnCase
{
  public:
    DecreaseTest()
        : QcnCase("qcn: a decrease by Gd per level, at most half, never below the least rate")
    {
    }

  private:
    void DoRun() override
    {
        Start();
        Send(1000);
        Is(1000, "at line rate nothing is counted");
        Notify(0);
        Is(1000, "no congestion");
        Notify(32);
        Is(750, "1 - 32 / 128");
        Notify(63);
        Is(750 * (1 - 63 / 128.0), "1 - 63 / 128");
        m_controller->SetAttribute("Gd", DoubleValue(1.0 / 64));
        Notify(63);
        Is(750 * (1 - 63 / 128.0) / 2, "no more than half at once");
        for (int i = 0; i < 10; ++i)
        {
            Notify(63);
        }
        Is(10, "the least rate is a hundredth of the link's");
    }
};

class ByteCounterTest : public QcnCase
{
  public:
    ByteCounterTest()
        : QcnCase("qcn: five cycles of 150 kB towards the target, then active increase each 75 kB")
    {
    }

  private:
    void DoRun() override
    {
        Start();
        Notify(63);
        double rate = 1000 * (1 - 63 / 128.0);
        Send(150);
        Is(rate, "150 kB have been sent, and not more");
        for (int cycle = 1; cycle <= 4; ++cycle)
        {
            Send(cycle == 1 ? 1 : 151);
            rate = (rate + 1000) / 2;
            Is(rate, "half the way to the target (eq. 3)");
        }
        // A second decrease: the target is the rate before it.
        Notify(16);
        const double target = rate;
        rate *= 1 - 16 / 128.0;
        for (int cycle = 1; cycle <= 5; ++cycle)
        {
            Send(151);
            rate = (rate + target) / 2;
            Is(rate, "fast recovery to the new target");
        }
        Send(75);
        Is(rate, "half a cycle is not over at 75 kB");
        Send(1);
        rate = (rate + target + 1) / 2;
        Is(rate, "active increase: the target grows by 1 Mb/s (eq. 4)");
        Send(76);
        rate = (rate + target + 2) / 2;
        Is(rate, "and again");
    }
};

class TargetTest : public QcnCase
{
  public:
    TargetTest()
        : QcnCase("qcn: decreases in a row keep the first one's target")
    {
    }

  private:
    void DoRun() override
    {
        Start();
        Notify(32);
        Notify(32);
        Is(562.5, "750 * 0.75");
        Send(151);
        Is((562.5 + 1000) / 2, "back towards line rate");

        m_controller = ObjectFactory("rdma::qcn").Create<CongestionControl>();
        m_controller->SetAttribute("LatestTarget", BooleanValue(true));
        Start();
        Notify(32);
        Notify(32);
        Send(151);
        Is((562.5 + 750) / 2, "with LatestTarget: back to the rate before the second");
    }
};

class ExtraFastRecoveryTest : public QcnCase
{
  public:
    ExtraFastRecoveryTest()
        : QcnCase("qcn: a target ten times the rate is an eighth after the first cycle")
    {
    }

  private:
    void DoRun() override
    {
        Start();
        for (int i = 0; i < 5; ++i)
        {
            Notify(63);
        }
        const double rate = m_flow->RateBps() / MBPS;
        NS_TEST_EXPECT_MSG_LT(rate, 100, "below a tenth");
        Send(151);
        Is((rate + 125) / 2, "1000 / 8");
    }
};

class TimerTest : public QcnCase
{
  public:
    TimerTest()
        : QcnCase("qcn: the timer's cycles of 15 ms, then half; both out of recovery: hyper-active "
                  "increase")
    {
    }

  private:
    void DoRun() override
    {
        Start();
        Notify(63);
        double rate = 1000 * (1 - 63 / 128.0);
        Pass(15 * MS - 1);
        Is(rate, "not yet");
        Pass(1);
        rate = (rate + 1000) / 2;
        Is(rate, "15 ms: the first cycle");
        Notify(63);
        rate *= 1 - 63 / 128.0; // no cycle of bytes is over: the target stays 1000
        for (int cycle = 1; cycle <= 5; ++cycle)
        {
            Pass(15 * MS);
            rate = (rate + 1000) / 2;
            Is(rate, "five cycles");
        }
        Pass(15 * MS / 2);
        rate = (rate + 1000) / 2;
        Is(rate, "active: the target is line rate at most");

        Start(); // both counters, target below line rate
        m_controller = ObjectFactory("rdma::qcn").Create<CongestionControl>();
        Start();
        Notify(63);
        Send(151);
        Notify(63); // target 754: the rate before
        const double target = (1000 * (1 - 63 / 128.0) + 1000) / 2;
        rate = target * (1 - 63 / 128.0);
        for (int cycle = 1; cycle <= 6; ++cycle)
        {
            const bool active = cycle == 6;
            Send(active ? 76 : 151);
            rate = (rate + target + (active ? 1 : 0)) / 2;
        }
        Is(rate, "the byte counter alone: active increase");
        for (int cycle = 1; cycle <= 5; ++cycle)
        {
            m_now += 15 * MS;
            Send(1);
            rate = (rate + target + 1 + cycle) / 2;
        }
        Is(rate, "active increase at each of the timer's first five cycles");
        m_now += 15 * MS / 2;
        Send(1);
        rate = (rate + target + 6 + 10) / 2;
        Is(rate, "both are out of recovery: 10 Mb/s times the lesser number of cycles beyond it");
    }
};

class ScalingTest : public QcnCase
{
  public:
    ScalingTest()
        : QcnCase("qcn: at a hundred times the rate everything is a hundred times as fast")
    {
    }

  private:
    void DoRun() override
    {
        Start(100e9);
        Notify(63);
        double rate = 100'000 * (1 - 63 / 128.0);
        Is(rate, "decrease");
        Pass(15 * MS / 100);
        rate = (rate + 100'000) / 2;
        Is(rate, "the timer's cycle is 150 us");
        m_controller->SetAttribute("TimeReset", TimeValue(Time(0)));
        Notify(63);
        rate *= 1 - 63 / 128.0;
        Pass(1000 * MS);
        Is(rate, "no timer");
    }
};

class QcnTestSuite : public TestSuite
{
  public:
    QcnTestSuite()
        : TestSuite("rdma-qcn", Type::UNIT)
    {
        AddTestCase(new DecreaseTest, Duration::QUICK);
        AddTestCase(new ByteCounterTest, Duration::QUICK);
        AddTestCase(new TargetTest, Duration::QUICK);
        AddTestCase(new ExtraFastRecoveryTest, Duration::QUICK);
        AddTestCase(new TimerTest, Duration::QUICK);
        AddTestCase(new ScalingTest, Duration::QUICK);
    }
};

QcnTestSuite g_qcnTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
