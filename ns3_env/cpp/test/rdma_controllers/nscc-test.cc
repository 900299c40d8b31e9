// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of NSCC by its four cases of mark and delay, and of its quick adaptation (Ultra Ethernet 1.0).
#include "ns3/object-factory.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/nscc.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::rdma
{

namespace
{

SUITE("rdma-nscc");

constexpr double BDP = 78000;
constexpr double SCALE = BDP / 150e3; // scaling_a
constexpr Picos RTT = 6'240'000;      // and the target of the delay

/// A flow with ACKs of one packet after the other.
struct Heard
{
    explicit Heard(uint32_t adjustPackets = 8)
        : facts(DumbbellFacts(1056)),
          flow(facts),
          control(CreateObject<Nscc>())
    {
        control->SetAttribute("AdjustPackets", UintegerValue(adjustPackets));
        control->OnFlowStart(flow);
        flow.Sent(1'000'000);
    }

    double Ack(Picos now, Picos delay, bool marked, uint32_t newly = 1000)
    {
        flow.Acked(flow.AckedBytes() + newly);
        control->OnAck(flow,
                       {.now = now,
                        .rtt = RTT + delay,
                        .ackedBytes = flow.AckedBytes(),
                        .newlyAckedBytes = newly,
                        .ecnMarked = marked});
        return flow.WindowBytes();
    }

    PathFacts facts;
    FakeFlow flow;
    Ptr<Nscc> control;
};

TEST("starts with 1.5 BDP at line rate, and marks begin at 30 kB at 100 Gb/s")
{
    const Heard heard;
    EXPECT_EQ(heard.flow.WindowBytes(), 1.5 * BDP, "MaxWnd");
    EXPECT_EQ(heard.flow.RateBps(), 100e9, "no pacing");
    const EcnConfig ecn = heard.control->GetEcnConfig();
    EXPECT_EQ(ecn.kminBytes * 100e9 / ecn.atRateBps, 30e3, "20 % of 150 kB");
}

TEST("marked and late: cut by the average delay's excess, once per round trip, by half at most")
{
    Heard heard;
    const double eta = 0.15 * 1000 * SCALE;
    double window = 1.5 * BDP * (1 - 0.8 * 0.5) + eta; // a delay of two targets
    EXPECT_NEAR(heard.Ack(RTT + 1, 2 * RTT, true), window, 1e-6, "1 - gamma (avg - target) / avg");
    EXPECT_NEAR(heard.Ack(RTT + 2, 2 * RTT, true), window, 1e-6, "not twice");
    Heard worse;
    EXPECT_NEAR(worse.Ack(RTT + 1, 3.9 * RTT, true), 1.5 * BDP * 0.5 + eta, 1e-6, "by half");
}

TEST("marked and on time: holds; late and unmarked: the fair increase; neither: in proportion")
{
    Heard heard;
    heard.Ack(RTT + 1, 2 * RTT, true);
    double window = heard.flow.WindowBytes();
    for (Picos i = 2; i <= 19; ++i) // twice nine packets
    {
        EXPECT_EQ(heard.Ack(RTT + i, RTT - 1, true), window, "one path's queue");
    }
    // Increases apply from the packet after the eighth.
    const auto nine = [&](Picos from, Picos delay)
    {
        for (Picos i = 0; i < 8; ++i)
        {
            EXPECT_EQ(heard.Ack(from + i, delay, false), window, "not yet");
        }
        return heard.Ack(from + 8, delay, false);
    };
    const double fair = nine(RTT + 30, 2 * RTT) - window;
    EXPECT_NEAR(fair, 5 * 1000 * SCALE * 9000 / window, 1e-6, "fi bytes per byte over the window");
    window = heard.flow.WindowBytes();
    const double proportional = nine(RTT + 60, RTT / 2) - window;
    const double alpha = 4 * 1000 * SCALE * (6.24 / 12); // scaling_a scaling_b
    EXPECT_NEAR(proportional, alpha * 0.5 * 9000 / window, 1e-6, "alpha (target - delay)");
}

TEST("a window that met no queue opens it by a quarter of what arrives, scaled")
{
    Heard heard;
    heard.Ack(RTT + 1, 2 * RTT, true);
    double window = heard.flow.WindowBytes();
    heard.Ack(RTT + 2, 0, false, static_cast<uint32_t>(window)); // all but that window
    window = heard.flow.WindowBytes();
    heard.Ack(RTT + 3, 0, false, 10'000);
    EXPECT_NEAR(heard.flow.WindowBytes(), window + 0.25 * SCALE * 10'000, 1e-6, "fi_scale");
    window = heard.flow.WindowBytes();
    heard.Ack(RTT + 4, RTT - 1, false);
    EXPECT_NEAR(heard.flow.WindowBytes(), window, 1.0, "over with the first queue");
}

TEST("where a lost packet or a long delay shows it far off, the window falls to what arrived")
{
    Heard heard;
    for (Picos i = 1; i <= 3; ++i)
    {
        heard.Ack(i, 5 * RTT, false);
    }
    heard.Ack(2 * RTT + 1, 5 * RTT, false); // base RTT and target are over
    EXPECT_EQ(heard.flow.WindowBytes(), 4000, "four packets in a period");
    EXPECT_EQ(heard.Ack(2 * RTT + 2, 5 * RTT, true), 4000, "marks of what was under way are old");

    Heard lossy;
    lossy.Ack(1, 0, false);
    lossy.control->OnNack(lossy.flow, 2);
    EXPECT_EQ(lossy.flow.WindowBytes(), 1.5 * BDP - 1000, "a packet less at once");
    lossy.Ack(2 * RTT + 1, 0, false);
    EXPECT_EQ(lossy.flow.WindowBytes(), 2000, "then what arrived");
    EXPECT_EQ(lossy.control->GetCounters()[1].second, 1, "counted");
}

TEST("a packet out of order counts when it arrives, and once")
{
    Heard heard(1'000'000); // increases only once per round trip
    heard.Ack(RTT + 1, 2 * RTT, true);
    const double window = heard.flow.WindowBytes();
    heard.Ack(RTT + 2, 2 * RTT, false, 0); // two behind a gap
    heard.Ack(RTT + 3, 2 * RTT, false, 0);
    heard.Ack(RTT + 4, 2 * RTT, false, 3000); // the gap
    heard.Ack(2 * RTT + 1, RTT - 1, true, 1000);
    const double eta = 0.15 * 1000 * SCALE;
    EXPECT_NEAR(heard.flow.WindowBytes(),
                window + 5 * 1000 * SCALE * 3000 / window + eta,
                1e-6,
                "three packets");
}

} // namespace

} // namespace ns3::env::rdma
