// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of MPCC on flows and on a network: its clock, its computation time, two bottlenecks.
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3_env/cpp/contract/bottleneck-hop.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/mpcc.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <map>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-mpcc");

using Attributes = std::vector<std::pair<std::string, std::string>>;

/// One flow under MPCC with ACKs written by the test; 78 packets of BDP at 100 Gb/s, queues of 4 flows.
class AckedFlow
{
  public:
    explicit AckedFlow(const Attributes& attributes)
        : facts(DumbbellFacts(1080)),
          flow(facts)
    {
        for (const auto& [name, value] : attributes)
        {
            control->SetAttribute(name, StringValue(value));
        }
        control->OnFlowStart(flow);
    }

    void Ack(Picos now, uint32_t queueBytes)
    {
        const std::vector<IntRecord> hops{{0, 0, 100'000'000'000U, queueBytes, 4}};
        AckSample ack;
        ack.now = now;
        ack.rtt = facts.baseRtt;
        ack.hops = hops;
        control->OnAck(flow, ack);
    }

    double Decisions() const
    {
        const auto counters = control->GetCounters();
        return std::map<std::string, double>{counters.begin(), counters.end()}["mpcc_decisions"];
    }

    PathFacts facts;
    FakeFlow flow;
    Ptr<CongestionControl> control = ObjectFactory("rdma::mpcc").Create<CongestionControl>();
};

/// N senders into one receiver, 100 Gb/s.
Scenario
Incast(uint32_t senders, uint64_t bytes, const Attributes& attributes)
{
    Scenario s = Exact(senders);
    s.controllers[0] = {"mpcc", attributes};
    AddIncast(s, senders, bytes);
    return s;
}

TEST("a flow starts with a BDP, and is paced at W / base RTT where Pacing is on (eq. 3.3)")
{
    for (const char* pacing : {"true", "false"})
    {
        AckedFlow mpcc(Attributes{{"Pacing", pacing}});
        EXPECT_EQ(mpcc.control->GetIntRequest().wireBytes, 32, "Zheng 2024, Fig. 5.1");
        EXPECT_EQ(mpcc.flow.WindowBytes(), mpcc.facts.bdpBytes, "line rate at first");
        const double least = 100e9 * 0.01 * 1080 / mpcc.facts.bdpBytes;
        EXPECT_NEAR(mpcc.control->GetRateFloor(mpcc.flow), least, 1e-3, "of a base RTT");
        mpcc.Ack(0, 1000);
        const double window = mpcc.flow.WindowBytes();
        EXPECT_LT(window, mpcc.facts.bdpBytes, "it is cut");
        const double rate = pacing == std::string("true") ? window * 8 / 6240e-9 : 100e9;
        EXPECT_NEAR(mpcc.flow.RateBps(), rate, 1.0, "Pacing " << pacing);
    }
}

/// Zheng 2024, sec. 6.2: adjusting the window less often.
TEST("it decides on every ACK, on every n-th, or once per round trip")
{
    for (const auto& [acks, expected] : {std::pair{"1", 100}, {"2", 50}, {"7", 15}, {"0", 2}})
    {
        AckedFlow mpcc(Attributes{{"AcksPerDecision", acks}});
        for (int i = 0; i < 100; ++i) // 100 ns apart: 9.9 us, and an RTT is 6.24 us
        {
            mpcc.Ack(i * 100 * NS, 1000);
        }
        EXPECT_EQ(mpcc.Decisions(), expected, "AcksPerDecision " << acks);
    }
}

/// The window takes effect ComputationTime later, in the order of the decisions, and never after the end.
TEST("a window takes effect when its computation is done, in order")
{
    AckedFlow mpcc(
        Attributes{{"ComputationTime", "500ns"}, {"DelayScale", "0"}}); // every queue is news
    const double initial = mpcc.flow.WindowBytes();
    std::map<Picos, double> window;
    for (const auto& [ns, queueBytes] : {std::pair{1000, 200'000U}, {1200, 0U}, {1900, 200'000U}})
    {
        At(ns * NS, [&, t = ns * NS, q = queueBytes] { mpcc.Ack(t, q); });
    }
    for (const Picos ns : {1499, 1501, 1699, 1701, 3000})
    {
        At(ns * NS, [&, ns] { window[ns] = mpcc.flow.WindowBytes(); });
    }
    At(2000 * NS, [&] { mpcc.control->OnFlowEnd(mpcc.flow, 2000 * NS); });
    Simulator::Run();
    Simulator::Destroy();
    EXPECT_EQ(window[1499], initial, "not yet");
    EXPECT_LT(window[1501], initial, "the first decision");
    EXPECT_EQ(window[1699], window[1501], "the second not yet");
    EXPECT_NE(window[1701], window[1501], "the second decision");
    EXPECT_EQ(window[3000], window[1701], "none after the flow's end");
    EXPECT_EQ(mpcc.Decisions(), 3, "all were made");

    // On a network: the first change is that much later.
    const auto firstChange = [](const std::string& time)
    {
        Scenario s = Incast(4, 100'000, {{"ComputationTime", time}});
        s.recordWindows = true;
        Played net(std::move(s));
        const auto& changes = net.Recorded().windows->Changes();
        return std::ranges::find_if(changes, [](auto change) { return change.time > 0; })->time;
    };
    EXPECT_EQ(firstChange("700ns") - firstChange("0ns"), 700 * NS, "by the computation");
}

/// A flow whose window opens between two ACKs does not wait for the next one.
TEST("a window that takes effect lets a waiting flow send at once")
{
    Scenario s = Exact(1, {{0, 1, 100'000}});
    SetWindow(s, 10); // a packet every hundred round trips
    uint64_t sent[2] = {};
    const auto hook = [&](Flow& flow, const FlowEntry&)
    {
        const auto open = [&]
        {
            sent[0] = flow.SentBytes();
            flow.SetWindow(5000);
            flow.WindowAndRateWritten();
        };
        At(20 * US, open);
        At(21 * US, [&] { sent[1] = flow.SentBytes(); });
    };
    TestNetwork net(std::move(s), hook);
    net->Run();
    EXPECT_EQ(sent[0], 1000, "it waits");
    EXPECT_EQ(sent[1], 6000, "five packets leave");
}

/// The model knows of the computation: it is input delay, and pending windows are inputs (eq. 3.7).
TEST("computation counts as input delay and pending windows as inputs (eq. 3.7)")
{
    AckedFlow mpcc(
        Attributes{{"ComputationTime", "3us"}, {"WeightQueue", "0.01"}}); // far from every bound
    MpccControl alone({.cost = {.weightQueue = 0.01}});
    MpccInput input =
        MakeMpccInput(mpcc.flow, {.queueBytes = 50'000, .flows = 4, .rateBps = 100e9});
    input.stateInputDelayNs = 1080 + 3000;
    input.stateFeedbackDelayNs = 5160;
    std::vector<double> windows;
    for (const Picos at : {1000 * NS, 2000 * NS, 3000 * NS, 4500 * NS})
    {
        At(at, [&, at] { mpcc.Ack(at, 50'000); });
        At(at + 3000 * NS + 1, [&] { windows.push_back(mpcc.flow.WindowBytes()); });
    }
    Simulator::Run();
    Simulator::Destroy();
    for (size_t i = 0; i < 4; ++i) // three before the first is in effect, and one after
    {
        input.windowBytes = alone.Decide(input);
        EXPECT_EQ(windows[i], input.windowBytes, "decision " << i);
    }
    EXPECT_LT(windows[0], 77'000, "no bound");
    EXPECT_GT(windows[3], 2'000, "no bound");
}

/// Measured time changes simulated time, so nothing about it can be exact.
TEST("decisions are measured on request only, by flow and in all")
{
    {
        Played net(Incast(2, 100'000, {}));
        const auto& totals = net.Recorded().counters.Totals();
        EXPECT_EQ(totals.count("decision_us_p50"), 0, "not by default");
        const std::vector<double>& solves = net.Recorded().counters.ByFlow().at("mpcc_decisions");
        EXPECT_EQ(solves.size(), 2, "a value per flow");
        EXPECT_EQ(solves[0], 100, "a decision per ACK");
        EXPECT_EQ(solves[0] + solves[1], totals.at("mpcc_decisions"), "which add up");
    }
    Played net(Incast(2, 100'000, {{"MeasureTime", "true"}, {"ChargeMeasuredTime", "true"}}));
    const double median = net.Recorded().counters.Totals().at("decision_us_p50");
    EXPECT_GT(median, 0.01, "some time");
    EXPECT_LT(median, 1000.0, "not for ever");
    EXPECT_LE(median, net.Recorded().counters.Totals().at("decision_us_p95"), "p95");
    EXPECT_EQ(net.Recorded().counters.ByFlow().at("decision_us_p99").size(), 2, "by flow");
}

/// Durations add up over flows, in any order.
TEST("percentiles are right to 5 %, of one flow or of many")
{
    DecisionTimes one;
    DecisionTimes other;
    for (int i = 1; i <= 1000; ++i)
    {
        (i % 3 == 0 ? one : other).Add(0.1 * i);
    }
    one.Add(other);
    EXPECT_EQ(one.Count(), 1000, "all");
    EXPECT_NEAR(one.Mean(), 50.05, 1e-9, "the mean");
    for (double p : {0.5, 0.95, 0.99})
    {
        EXPECT_NEAR(one.Percentile(p), 100 * p, 5 * p, "percentile " << p);
    }
    one.Add(0.0);
    one.Add(1e12); // beyond either end
    EXPECT_EQ(DecisionTimes().Percentile(0.5), 0.0, "of nothing");
}

} // namespace

} // namespace ns3::env::rdma::test
