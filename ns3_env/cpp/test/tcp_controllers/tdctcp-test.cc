// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of T-DCTCP's windows (Liang 2018, Fig. 3-2), and of when a socket gets them.
#include "ns3/boolean.h"
#include "ns3/test.h"
#include "ns3_env/cpp/tcp/controllers/tdctcp.h"

#include <cmath>

namespace ns3::env::tcp::test
{

namespace
{

constexpr double MS = 1e6; // nanoseconds
constexpr double PACKETS = 40;

/// One of the eight cases, at the figure's settings.
class WindowCase : public TestCase
{
  public:
    WindowCase(const std::string& name,
               const TDctcpState& state,
               TDctcpCase which,
               double packets,
               const TDctcpSettings& settings = {})
        : TestCase(name),
          m_state(state),
          m_which(which),
          m_packets(packets),
          m_settings(settings)
    {
    }

  private:
    void DoRun() override
    {
        const TDctcpDecision decision = DecideWindow(m_settings, m_state, PACKETS);
        NS_TEST_EXPECT_MSG_EQ(static_cast<int>(decision.which), static_cast<int>(m_which), "case");
        NS_TEST_EXPECT_MSG_EQ_TOL(decision.packets, m_packets, 1e-12, "window");
    }

    TDctcpState m_state;
    TDctcpCase m_which;
    double m_packets;
    TDctcpSettings m_settings;
};

class EstimateCase : public TestCase
{
  public:
    EstimateCase()
        : TestCase(
              "lines 1 to 5: averages of RTT differences and marks, gradient over the least RTT")
    {
    }

  private:
    void DoRun() override
    {
        TDctcpEstimate estimate({});
        estimate.EndWindow(8 * MS, 0);
        NS_TEST_EXPECT_MSG_EQ(estimate.State().gradient, 0, "the first RTT has no difference");
        estimate.EndWindow(16 * MS, 1);
        NS_TEST_EXPECT_MSG_EQ_TOL(estimate.State().gradient, 1.0 / 8, 1e-12, "8 ms / 8, over 8 ms");
        NS_TEST_EXPECT_MSG_EQ_TOL(estimate.State().alpha, 1.0 / 16, 1e-12, "g = 1/16");
        estimate.SeeRtt(4 * MS); // between two windows' ends
        estimate.EndWindow(0.5 * MS, 0.5);
        NS_TEST_EXPECT_MSG_EQ_TOL(estimate.State().gradient,
                                  (7.0 / 8 * 1 - 15.5 / 8) / 0.5,
                                  1e-12,
                                  "over the least RTT seen");
        NS_TEST_EXPECT_MSG_EQ_TOL(estimate.State().alpha, 15.0 / 256 + 1.0 / 32, 1e-12, "alpha");
    }
};

class HurryCase : public TestCase
{
  public:
    HurryCase()
        : TestCase("the fifth falling RTT in a row makes growth hurry, a rising one ends it")
    {
    }

  private:
    void DoRun() override
    {
        TDctcpEstimate estimate({});
        double rttMs = 40;
        const auto growth = [&](double stepMs)
        {
            rttMs += stepMs;
            estimate.EndWindow(rttMs * MS, 0);
            return DecideWindow({}, estimate.State(), PACKETS).packets - PACKETS;
        };
        NS_TEST_EXPECT_MSG_EQ(growth(0), 1, "no gradient yet");
        for (int fall = 1; fall <= 4; ++fall)
        {
            NS_TEST_EXPECT_MSG_EQ(growth(-1), 1, "fall " << fall);
        }
        NS_TEST_EXPECT_MSG_EQ(growth(-1), 5, "fall 5");
        NS_TEST_EXPECT_MSG_EQ(growth(-1), 5, "fall 6");
        NS_TEST_EXPECT_MSG_LT(growth(10), 0, "a rise");
        NS_TEST_EXPECT_MSG_EQ(growth(-10), 1, "the first fall after it");
    }
};

class ThresholdCase : public TestCase
{
  public:
    ThresholdCase()
        : TestCase("T_low and T_high are a hundredth at a hundred times the rate")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(ThresholdNs(5 * MS, 100e6), 5 * MS, 1e-6, "100 Mb/s");
        NS_TEST_EXPECT_MSG_EQ_TOL(ThresholdNs(50 * MS, 10e9), 0.5 * MS, 1e-6, "10 Gb/s");
    }
};

/// The controller between a socket's numbers: segments of 1000 B, a window of data per call of Round().
class SocketCase : public TestCase
{
  public:
    SocketCase()
        : TestCase(
              "increases at a window's end, reductions by marks where TCP asks for a threshold")
    {
    }

  private:
    void Start(uint32_t packets, uint32_t thresholdPackets)
    {
        m_controller = CreateObject<TDctcp>();
        m_tcb = CreateObject<TcpSocketState>();
        m_tcb->m_segmentSize = 1000;
        m_tcb->m_cWnd = packets * 1000;
        m_tcb->m_ssThresh = thresholdPackets * 1000;
        m_controller->Init(m_tcb);
        m_tcb->m_lastAckedSeq = SequenceNumber32(1);
        m_tcb->m_nextTxSequence = SequenceNumber32(1 + packets * 1000);
        Ack(0, 8, false); // the first window of data begins
    }

    void Ack(uint32_t packets, int64_t rttMs, bool marked)
    {
        m_tcb->m_lastAckedSeq += packets * 1000;
        m_tcb->m_lastRtt = MilliSeconds(rttMs);
        m_tcb->m_ecnState = marked ? TcpSocketState::ECN_ECE_RCVD : TcpSocketState::ECN_IDLE;
        m_controller->PktsAcked(m_tcb, packets, Seconds(9)); // a smoothed RTT that nothing may read
        m_controller->IncreaseWindow(m_tcb, packets);
    }

    void Round(int64_t rttMs, bool marked)
    {
        const int32_t inFlight = m_tcb->m_nextTxSequence.Get() - m_tcb->m_lastAckedSeq;
        Ack(inFlight / 1000 - 1, rttMs, marked);
        m_tcb->m_nextTxSequence = m_tcb->m_lastAckedSeq + m_tcb->m_cWnd.Get() / 1000 * 1000;
        Ack(1, rttMs, marked);
    }

    void Growth()
    {
        Start(20, 10);
        Round(4, false);
        NS_TEST_EXPECT_MSG_EQ(m_tcb->m_cWnd, 21000, "case 1: a packet more");
        Round(80, false);
        const double kept = 21 * (1 - 0.25 * (1 - 50.0 / 80));
        NS_TEST_EXPECT_MSG_EQ_TOL(m_tcb->m_cWnd,
                                  1000 * kept,
                                  1,
                                  "case 2: the RTT alone shrinks it");
        NS_TEST_EXPECT_MSG_EQ(m_tcb->m_ssThresh, m_tcb->m_cWnd, "and no slow start follows");
    }

    void SlowStart()
    {
        Start(4, 1000);
        Round(4, false);
        Round(4, false);
        NS_TEST_EXPECT_MSG_EQ(m_tcb->m_cWnd, 4000 + 4000 + 6000, "what was acknowledged");
        Round(9, false);
        NS_TEST_EXPECT_MSG_LT(m_tcb->m_ssThresh, 30000, "case 4 ends it");
        NS_TEST_EXPECT_MSG_EQ(m_tcb->m_ssThresh, m_tcb->m_cWnd, "there");
    }

    void Marks(bool cutUnmarked)
    {
        Start(100, 50);
        m_controller->SetAttribute("CutUnmarked", BooleanValue(cutUnmarked));
        m_tcb->m_congState = TcpSocketState::CA_CWR;
        for (int i = 0; i < 8; ++i)
        {
            Round(4, true);
        }
        NS_TEST_EXPECT_MSG_EQ(m_tcb->m_cWnd, 100000, "TCP itself reduces in CA_CWR");
        m_tcb->m_congState = TcpSocketState::CA_OPEN;
        double alpha = 1 - std::pow(15.0 / 16, 8);
        m_tcb->m_ecnState = TcpSocketState::ECN_ECE_RCVD;
        NS_TEST_EXPECT_MSG_EQ_TOL(m_controller->GetSsThresh(m_tcb, 0),
                                  1e5 * (1 - alpha),
                                  1,
                                  "case 5 at a mark");
        Round(4, false);
        alpha *= 15.0 / 16;
        NS_TEST_EXPECT_MSG_EQ_TOL(m_tcb->m_cWnd,
                                  (cutUnmarked ? 1e5 * (1 - alpha) : 1e5),
                                  1,
                                  "a window without a mark, alpha still high");
    }

    void Loss()
    {
        Start(100, 50);
        Round(4, false);
        NS_TEST_EXPECT_MSG_EQ(m_controller->GetSsThresh(m_tcb, 0),
                              50500,
                              "a loss halves, though case 1 grows");
        m_tcb->m_cWnd = 3000;
        NS_TEST_EXPECT_MSG_EQ(m_controller->GetSsThresh(m_tcb, 0),
                              2000,
                              "no less than two packets");
    }

    void DoRun() override
    {
        Growth();
        SlowStart();
        Marks(false);
        Marks(true);
        Loss();
        NS_TEST_EXPECT_MSG_EQ(m_tcb->m_ecnMode,
                              TcpSocketState::DctcpEcn,
                              "the receiver echoes each mark");
        NS_TEST_EXPECT_MSG_EQ(m_tcb->m_useEcn, TcpSocketState::On, "ECN is asked for");
    }

    Ptr<TDctcp> m_controller;
    Ptr<TcpSocketState> m_tcb;
};

class TDctcpTestSuite : public TestSuite
{
  public:
    TDctcpTestSuite()
        : TestSuite("tcp-tdctcp", Type::UNIT)
    {
        const auto add = [this](TestCase* test) { AddTestCase(test, TestCase::Duration::QUICK); };
        using enum TDctcpCase;
        const TDctcpState unmarked{.alpha = 0.1, .rttNs = 20 * MS};
        const TDctcpState marked{.alpha = 0.5, .rttNs = 20 * MS};
        const auto rtt = [](TDctcpState state, double ms)
        {
            state.rttNs = ms * MS;
            return state;
        };
        const auto gradient = [](TDctcpState state, double value, uint32_t falls)
        {
            state.gradient = value;
            state.fallsInARow = falls;
            return state;
        };
        add(new WindowCase("case 1: RTT below T_low", rtt(unmarked, 4), Clear, 41));
        add(new WindowCase("case 2: RTT above T_high, with the missing parenthesis",
                           rtt(unmarked, 100),
                           Long,
                           40 * (1 - 0.25 * 0.5) - 40 * 0.05));
        add(new WindowCase("case 3: RTT falls", gradient(unmarked, -0.1, 4), Falling, 41));
        add(new WindowCase("case 3: RTT has fallen five times",
                           gradient(unmarked, -0.1, 5),
                           Falling,
                           45));
        add(new WindowCase("case 4: RTT rises fast", gradient(unmarked, 0.4, 0), Rising, 36));
        add(new WindowCase("case 4: RTT rises slowly, a packet at least",
                           gradient(unmarked, 0.01, 0),
                           Rising,
                           39));
        add(new WindowCase("case 5: marks, RTT below T_low", rtt(marked, 4), MarkedClear, 20));
        add(new WindowCase("case 6: marks, RTT above T_high", rtt(marked, 51), MarkedLong, 20));
        add(new WindowCase("case 7: marks, RTT falls",
                           gradient(marked, -0.1, 9),
                           MarkedFalling,
                           20));
        add(new WindowCase("case 8: marks, RTT rises", gradient(marked, 0.1, 0), MarkedRising, 30));
        add(new WindowCase("theta above 1 makes case 7 cut less than case 8",
                           gradient(marked, -0.1, 0),
                           MarkedFalling,
                           35,
                           {.theta = 2}));
        add(new WindowCase("alpha at its factor belongs to the marks",
                           {.alpha = 0.125, .rttNs = 20 * MS, .gradient = 1},
                           MarkedRising,
                           37.5));
        add(new EstimateCase);
        add(new HurryCase);
        add(new ThresholdCase);
        add(new SocketCase);
    }
};

TDctcpTestSuite g_tdctcpTestSuite;

} // namespace

} // namespace ns3::env::tcp::test
