// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of T-DCTCP's windows (Liang 2018, Fig. 3-2), and of when a socket gets them.
#include "ns3/boolean.h"
#include "ns3_env/cpp/tcp/controllers/tdctcp.h"
#include "ns3_env/cpp/test/suite.h"

#include <cmath>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-tdctcp");

constexpr double MS = 1e6; // nanoseconds
constexpr double PACKETS = 40;

TEST("each of the eight cases has its window, at the figure's settings")
{
    using enum TDctcpCase;
    const auto decides = [](const char* name,
                            double alpha,
                            double rttMs,
                            double gradient,
                            uint32_t falls,
                            TDctcpCase which,
                            double packets,
                            const TDctcpSettings& settings = {})
    {
        const TDctcpState state{alpha, rttMs * MS, gradient, falls};
        const TDctcpDecision decision = DecideWindow(settings, state, PACKETS);
        EXPECT(decision.which == which, name);
        EXPECT_NEAR(decision.packets, packets, 1e-12, name);
    };
    const double missing = 40 * (1 - 0.25 * 0.5) - 40 * 0.05; // the parenthesis
    decides("case 1: RTT below T_low", 0.1, 4, 0, 0, Clear, 41);
    decides("case 2: RTT above T_high", 0.1, 100, 0, 0, Long, missing);
    decides("case 3: RTT falls", 0.1, 20, -0.1, 4, Falling, 41);
    decides("case 3: RTT has fallen five times", 0.1, 20, -0.1, 5, Falling, 45);
    decides("case 4: RTT rises fast", 0.1, 20, 0.4, 0, Rising, 36);
    decides("case 4: RTT rises slowly, a packet at least", 0.1, 20, 0.01, 0, Rising, 39);
    decides("case 5: marks, RTT below T_low", 0.5, 4, 0, 0, MarkedClear, 20);
    decides("case 6: marks, RTT above T_high", 0.5, 51, 0, 0, MarkedLong, 20);
    decides("case 7: marks, RTT falls", 0.5, 20, -0.1, 9, MarkedFalling, 20);
    decides("case 8: marks, RTT rises", 0.5, 20, 0.1, 0, MarkedRising, 30);
    decides("theta: case 7 cuts less than 8", 0.5, 20, -0.1, 0, MarkedFalling, 35, {.theta = 2});
    decides("alpha at its factor belongs to the marks", 0.125, 20, 1, 0, MarkedRising, 37.5);
}

TEST("lines 1 to 5: averages of RTT differences and marks, gradient over the least RTT")
{
    TDctcpEstimate estimate({});
    estimate.EndWindow(8 * MS, 0);
    EXPECT_EQ(estimate.State().gradient, 0, "the first RTT has no difference");
    estimate.EndWindow(16 * MS, 1);
    EXPECT_NEAR(estimate.State().gradient, 1.0 / 8, 1e-12, "8 ms / 8, over 8 ms");
    EXPECT_NEAR(estimate.State().alpha, 1.0 / 16, 1e-12, "g = 1/16");
    estimate.SeeRtt(4 * MS); // between two windows' ends
    estimate.EndWindow(0.5 * MS, 0.5);
    EXPECT_NEAR(estimate.State().gradient,
                (7.0 / 8 * 1 - 15.5 / 8) / 0.5,
                1e-12,
                "over the least RTT seen");
    EXPECT_NEAR(estimate.State().alpha, 15.0 / 256 + 1.0 / 32, 1e-12, "alpha");
}

TEST("the fifth falling RTT in a row makes growth hurry, a rising one ends it")
{
    TDctcpEstimate estimate({});
    double rttMs = 40;
    const auto growth = [&](double stepMs)
    {
        rttMs += stepMs;
        estimate.EndWindow(rttMs * MS, 0);
        return DecideWindow({}, estimate.State(), PACKETS).packets - PACKETS;
    };
    EXPECT_EQ(growth(0), 1, "no gradient yet");
    for (int fall = 1; fall <= 4; ++fall)
    {
        EXPECT_EQ(growth(-1), 1, "fall " << fall);
    }
    EXPECT_EQ(growth(-1), 5, "fall 5");
    EXPECT_EQ(growth(-1), 5, "fall 6");
    EXPECT_LT(growth(10), 0, "a rise");
    EXPECT_EQ(growth(-10), 1, "the first fall after it");
}

TEST("T_low and T_high are a hundredth at a hundred times the rate")
{
    EXPECT_NEAR(ThresholdNs(5 * MS, 100e6), 5 * MS, 1e-6, "100 Mb/s");
    EXPECT_NEAR(ThresholdNs(50 * MS, 10e9), 0.5 * MS, 1e-6, "10 Gb/s");
}

/// The controller between a socket's numbers: segments of 1000 B, a window of data per call of Round().
struct SocketNumbers
{
    SocketNumbers(uint32_t packets, uint32_t thresholdPackets)
    {
        tcb->m_segmentSize = 1000;
        tcb->m_cWnd = packets * 1000;
        tcb->m_ssThresh = thresholdPackets * 1000;
        controller->Init(tcb);
        tcb->m_lastAckedSeq = SequenceNumber32(1);
        tcb->m_nextTxSequence = SequenceNumber32(1 + packets * 1000);
        Ack(0, 8, false); // the first window of data starts
    }

    void Ack(uint32_t packets, int64_t rttMs, bool marked)
    {
        tcb->m_lastAckedSeq += packets * 1000;
        tcb->m_lastRtt = MilliSeconds(rttMs);
        tcb->m_ecnState = marked ? TcpSocketState::ECN_ECE_RCVD : TcpSocketState::ECN_IDLE;
        controller->PktsAcked(tcb, packets, Seconds(9)); // a smoothed RTT that must not be read
        controller->IncreaseWindow(tcb, packets);
    }

    void Round(int64_t rttMs, bool marked)
    {
        const int32_t inFlight = tcb->m_nextTxSequence.Get() - tcb->m_lastAckedSeq;
        Ack(inFlight / 1000 - 1, rttMs, marked);
        tcb->m_nextTxSequence = tcb->m_lastAckedSeq + tcb->m_cWnd.Get() / 1000 * 1000;
        Ack(1, rttMs, marked);
    }

    Ptr<TDctcp> controller{CreateObject<TDctcp>()};
    Ptr<TcpSocketState> tcb{CreateObject<TcpSocketState>()};
};

TEST("a window grows at its end, and a long RTT alone shrinks it")
{
    SocketNumbers socket(20, 10);
    socket.Round(4, false);
    EXPECT_EQ(socket.tcb->m_cWnd, 21000, "case 1: a packet more");
    socket.Round(80, false);
    const double kept = 21 * (1 - 0.25 * (1 - 50.0 / 80));
    EXPECT_NEAR(socket.tcb->m_cWnd, 1000 * kept, 1, "case 2");
    EXPECT_EQ(socket.tcb->m_ssThresh, socket.tcb->m_cWnd, "and no slow start follows");
    EXPECT_EQ(socket.tcb->m_ecnMode, TcpSocketState::DctcpEcn, "the receiver echoes each mark");
    EXPECT_EQ(socket.tcb->m_useEcn, TcpSocketState::On, "ECN is asked for");
}

TEST("slow start ends where the RTT rises")
{
    SocketNumbers socket(4, 1000);
    socket.Round(4, false);
    socket.Round(4, false);
    EXPECT_EQ(socket.tcb->m_cWnd, 4000 + 4000 + 6000, "what was acknowledged");
    socket.Round(9, false);
    EXPECT_LT(socket.tcb->m_ssThresh, 30000, "case 4 ends it");
    EXPECT_EQ(socket.tcb->m_ssThresh, socket.tcb->m_cWnd, "there");
}

TEST("marks reduce where TCP asks for a threshold")
{
    for (const bool cutUnmarked : {false, true})
    {
        SocketNumbers socket(100, 50);
        socket.controller->SetAttribute("CutUnmarked", BooleanValue(cutUnmarked));
        socket.tcb->m_congState = TcpSocketState::CA_CWR;
        for (int i = 0; i < 8; ++i)
        {
            socket.Round(4, true);
        }
        EXPECT_EQ(socket.tcb->m_cWnd, 100000, "TCP itself reduces in CA_CWR");
        socket.tcb->m_congState = TcpSocketState::CA_OPEN;
        double alpha = 1 - std::pow(15.0 / 16, 8);
        socket.tcb->m_ecnState = TcpSocketState::ECN_ECE_RCVD;
        EXPECT_NEAR(socket.controller->GetSsThresh(socket.tcb, 0), 1e5 * (1 - alpha), 1, "case 5");
        socket.Round(4, false);
        alpha *= 15.0 / 16;
        const double kept = cutUnmarked ? 1e5 * (1 - alpha) : 1e5;
        EXPECT_NEAR(socket.tcb->m_cWnd, kept, 1, "a window without a mark, alpha still high");
    }
}

TEST("a loss halves the window, to two packets at least")
{
    SocketNumbers socket(100, 50);
    socket.Round(4, false);
    EXPECT_EQ(socket.controller->GetSsThresh(socket.tcb, 0), 50500, "though case 1 grows");
    socket.tcb->m_cWnd = 3000;
    EXPECT_EQ(socket.controller->GetSsThresh(socket.tcb, 0), 2000, "two packets");
}

} // namespace

} // namespace ns3::env::tcp::test
