// SPDX-License-Identifier: GPL-2.0-or-later
// Test of TIMELY's controller: hand-made feedback against hand-computed answers.
#include "ns3/object-factory.h"
#include "ns3/test.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"

namespace ns3::env::rdma::test
{

namespace
{

constexpr double GBPS = 1e9;
constexpr Picos US = 1000 * PS_PER_NS;

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
        m_controller->OnAck(m_flow, {.rtt = static_cast<Picos>(rttUs * US)});
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
    Ptr<CongestionControl> m_controller = ObjectFactory("rdma::timely").Create<CongestionControl>();
};

class TimelyTestSuite : public TestSuite
{
  public:
    TimelyTestSuite()
        : TestSuite("rdma-timely", Type::UNIT)
    {
        AddTestCase(new TimelyFactorTest, Duration::QUICK);
    }
};

TimelyTestSuite g_timelyTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
