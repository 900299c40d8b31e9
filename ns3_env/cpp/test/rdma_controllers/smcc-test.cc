// SPDX-License-Identifier: GPL-2.0-or-later
// Test of SMCC's equation: both states, both stages, against hand-computed rates.
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3/test.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"

namespace ns3::env::rdma::test
{

namespace
{

/// Jiang 2015, eq. 25, with the settings that it recommends at 1 Gb/s.
class SmccTest : public TestCase
{
  public:
    explicit SmccTest(double rateBps)
        : TestCase("smcc: a Q_off in state A, b dQ in state B, at a link of " +
                   std::to_string(static_cast<int>(rateBps / 1e9)) + " Gb per s"),
          m_scale(rateBps / 1e9),
          m_facts(DumbbellFacts(1048, rateBps))
    {
    }

  private:
    void Notify(double offset,
                double delta,
                double expectedMbps,
                const std::string& why,
                uint32_t point = 1)
    {
        m_controller->OnCongestionNotification(
            m_flow,
            {.offsetBytes = offset, .deltaBytes = delta, .congestionPoint = point});
        NS_TEST_EXPECT_MSG_EQ_TOL(m_flow.RateBps() / 1e6,
                                  expectedMbps * m_scale,
                                  1e-6 * m_scale,
                                  why);
    }

    void DoRun() override
    {
        Notify(32e3, 16e3, 872, "state A, a large change: 256 * 32 / 64");
        Notify(32e3, 8e3, 808, "state A, a small change: 128 * 32 / 64");
        Notify(32e3, -16e3, 824, "state B: the queue is on its way down, - 64 * -16 / 64");
        Notify(-32e3, 16e3, 808, "state B: on its way up");
        Notify(-32e3, -4e3, 872, "state A below the target: + 128 * 32 / 64");
        Notify(32e3, 0, 808, "it stays where it is, above: state A");
        Notify(-32e3, 0, 872, "and below");
        Notify(0, 16e3, 872, "at the target: state A, with an offset of none");
        Notify(0, -16e3, 872, "however it got there");
        Notify(64e3, 100e3, 616, "at twice the target the step has its nominal size");
        Notify(-16e3, -1e3, 616, "another queue may not raise the rate", 2);
        Notify(16e3, 1e3, 584, "but lower it", 2);
        Notify(-16e3, -1e3, 584, "and then the first may not", 1);
        Notify(-16e3, -1e3, 616, "but the other one may", 2);
        m_controller->SetAttribute("SmallStep", DoubleValue(0.256));
        Notify(16e3, 1e3, 552, "one stage: R_a = 256");
        for (int i = 0; i < 9; ++i)
        {
            m_controller->OnCongestionNotification(m_flow,
                                                   {.offsetBytes = 64e3, .congestionPoint = 1});
        }
        Notify(64e3, 0, 10, "the least rate");
        for (int i = 0; i < 9; ++i)
        {
            m_controller->OnCongestionNotification(m_flow,
                                                   {.offsetBytes = -64e3, .congestionPoint = 1});
        }
        Notify(-64e3, 0, 1000, "no more than line rate");
    }

    double m_scale;
    PathFacts m_facts;
    FakeFlow m_flow{m_facts};
    Ptr<CongestionControl> m_controller = ObjectFactory("rdma::smcc").Create<CongestionControl>();
};

class SmccTestSuite : public TestSuite
{
  public:
    SmccTestSuite()
        : TestSuite("rdma-smcc", Type::UNIT)
    {
        AddTestCase(new SmccTest(1e9), Duration::QUICK);
        AddTestCase(new SmccTest(100e9), Duration::QUICK);
    }
};

SmccTestSuite g_smccTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
