// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of MPCC on flows and on a network: its clock, its computation time, two bottlenecks.
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3_env/cpp/contract/bottleneck-hop.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/mpcc.h"
#include "ns3_env/cpp/test/rdma/test-network.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-mpcc");

constexpr Picos NS = PS_PER_NS;
constexpr Picos US = 1000 * NS;

double
Counter(const std::map<std::string, double>& counters, const std::string& name)
{
    const auto found = counters.find(name);
    return found == counters.end() ? NAN : found->second;
}

/// One flow under MPCC with ACKs written by the test; 78 packets of BDP at 100 Gb/s, queues of 4 flows.
class AckedFlow
{
  public:
    explicit AckedFlow(Ptr<CongestionControl> control)
        : facts(DumbbellFacts(1080)),
          flow(facts),
          m_control(control)
    {
        m_control->OnFlowStart(flow);
    }

    void Ack(Picos now, uint32_t queueBytes)
    {
        const std::vector<IntRecord> hops{{.txBytes = 0,
                                           .timeNs = 0,
                                           .rateBps = 100'000'000'000U,
                                           .queueBytes = queueBytes,
                                           .flows = 4}};
        AckSample ack;
        ack.now = now;
        ack.rtt = facts.baseRtt;
        ack.hops = hops;
        m_control->OnAck(flow, ack);
    }

    double Decisions() const
    {
        const auto counters = m_control->GetCounters();
        return Counter({counters.begin(), counters.end()}, "mpcc_decisions");
    }

    PathFacts facts;
    FakeFlow flow;

  private:
    Ptr<CongestionControl> m_control;
};

Ptr<CongestionControl>
MakeMpcc(const std::string& attribute, const std::string& value)
{
    Ptr<CongestionControl> control = ObjectFactory("rdma::mpcc").Create<CongestionControl>();
    control->SetAttribute(attribute, StringValue(value));
    return control;
}

/// N senders into one receiver, 100 Gb/s.
Scenario
Incast(uint32_t senders,
       uint64_t bytes,
       std::vector<std::pair<std::string, std::string>> attributes)
{
    Scenario s = Dumbbell(senders, 100e9);
    s.published = false;
    s.controllers[0] = {"mpcc", {attributes.begin(), attributes.end()}};
    AddIncast(s, senders, bytes);
    return s;
}

/// Zheng 2024, sec. 6.2: adjusting the window less often.
TEST("it decides on every ACK, on every n-th, or once per round trip")
{
    for (const auto& [acks, expected] :
         std::vector<std::pair<std::string, double>>{{"1", 100}, {"2", 50}, {"7", 15}, {"0", 2}})
    {
        AckedFlow mpcc(MakeMpcc("AcksPerDecision", acks));
        for (int i = 0; i < 100; ++i) // 100 ns apart: 9.9 us, and an RTT is 6.24 us
        {
            mpcc.Ack(i * 100 * NS, 1000);
        }
        EXPECT_EQ(mpcc.Decisions(), expected, "AcksPerDecision " << acks);
    }
    // On a network: the same number of decisions, and the queue is emptied all the same.
    for (int acks : {1, 4, 0})
    {
        TestNetwork net(Incast(4, 2'000'000, {{"AcksPerDecision", std::to_string(acks)}}));
        net->Run();
        EXPECT_EQ(net->Unfinished(), 0, "all done");
        const double decisions = Counter(net.Recorded().counters.Totals(), "mpcc_decisions");
        const double most = acks == 0 ? 8 * 1.08 * 80e3 / 6240 * 4 : 8000.0 / acks; // 691 us
        EXPECT_LE(decisions, most + 4, "AcksPerDecision " << acks);
        EXPECT_GT(decisions, 0.9 * most, "AcksPerDecision " << acks);
        const double queue = net.PortTo(5, 6).Stats()->Percentile(0.5);
        EXPECT_LT(queue, 3 * 1080, "queue, AcksPerDecision " << acks);
    }
}

/// The window takes effect ComputationTime later, in the order of the decisions, and never after the end.
TEST("a window takes effect when its computation is done, in order")
{
    Ptr<CongestionControl> control = MakeMpcc("ComputationTime", "500ns");
    control->SetAttribute("DelayScale", StringValue("0")); // every queue is news
    AckedFlow mpcc(control);
    const double initial = mpcc.flow.WindowBytes();
    double now[5] = {};
    const auto at = [](Picos t, auto f) { Simulator::Schedule(Time(t), f); };
    at(1000 * NS, [&] { mpcc.Ack(1000 * NS, 200'000); });
    at(1200 * NS, [&] { mpcc.Ack(1200 * NS, 0); });
    at(1499 * NS, [&] { now[0] = mpcc.flow.WindowBytes(); });
    at(1501 * NS, [&] { now[1] = mpcc.flow.WindowBytes(); });
    at(1699 * NS, [&] { now[2] = mpcc.flow.WindowBytes(); });
    at(1701 * NS, [&] { now[3] = mpcc.flow.WindowBytes(); });
    at(1900 * NS, [&] { mpcc.Ack(1900 * NS, 200'000); });
    at(2000 * NS, [&] { control->OnFlowEnd(mpcc.flow, 2000 * NS); });
    at(3000 * NS, [&] { now[4] = mpcc.flow.WindowBytes(); });
    Simulator::Run();
    Simulator::Destroy();
    EXPECT_EQ(now[0], initial, "not yet");
    EXPECT_LT(now[1], initial, "the first decision");
    EXPECT_EQ(now[2], now[1], "the second not yet");
    EXPECT_NE(now[3], now[1], "the second decision");
    EXPECT_EQ(now[4], now[3], "none after the flow's end");
    EXPECT_EQ(mpcc.Decisions(), 3, "all were made");

    // On a network: the first change is that much later, and slow flows are woken by it.
    const auto firstChange = [](const std::string& time, uint32_t senders)
    {
        Scenario s = Incast(senders, 100'000, {{"ComputationTime", time}});
        s.recordWindows = true;
        TestNetwork net(std::move(s));
        net->Run();
        Picos first = NEVER;
        for (const WindowChange& change : net.Recorded().windows->Changes())
        {
            first = change.time > 0 ? std::min(first, change.time) : first;
        }
        return std::pair{first, net->Unfinished()};
    };
    const auto [prompt, left] = firstChange("0ns", 4);
    const auto [late, leftLate] = firstChange("700ns", 4);
    EXPECT_EQ(late - prompt, 700 * NS, "by the computation");
    EXPECT_EQ(left + leftLate + firstChange("3us", 150).second, 0, "all done");
}

/// A flow whose window opens between two ACKs does not wait for the next one.
TEST("a window that takes effect lets a waiting flow send at once")
{
    Scenario s = Dumbbell(1, 100e9);
    s.published = false;
    s.controllers[0] = {"fixed-window", {{"Window", "10"}}}; // a packet every hundred round trips
    AddFlow(s, 0, 1, 100'000);
    uint64_t sent[2] = {};
    TestNetwork net(std::move(s),
                    [&](Flow& flow, const FlowEntry&)
                    {
                        const auto open = [&]
                        {
                            sent[0] = flow.SentBytes();
                            flow.SetWindow(5000);
                            flow.WindowAndRateWritten();
                        };
                        Simulator::Schedule(Time(20 * US), open);
                        Simulator::Schedule(Time(21 * US), [&] { sent[1] = flow.SentBytes(); });
                    });
    net->Run();
    EXPECT_EQ(sent[0], 1000, "it waits");
    EXPECT_EQ(sent[1], 6000, "five packets leave");
}

/// The model knows of the computation: it is input delay, and pending windows are inputs (eq. 3.7).
TEST("computation counts as input delay and pending windows as inputs (eq. 3.7)")
{
    Ptr<CongestionControl> control = MakeMpcc("ComputationTime", "3us");
    control->SetAttribute("WeightQueue", StringValue("0.01")); // far from every bound
    AckedFlow mpcc(control);
    MpccControl alone({.cost = {.weightQueue = 0.01}});
    std::vector<double> expected;
    MpccInput input =
        MakeMpccInput(mpcc.flow, {.queueBytes = 50'000, .flows = 4, .rateBps = 100e9});
    input.stateInputDelayNs = 1080 + 3000;
    input.stateFeedbackDelayNs = 5160;
    for (int i = 0; i < 4; ++i) // three before the first is in effect, and one after
    {
        expected.push_back(alone.Decide(input));
        input.windowBytes = expected.back();
    }
    std::vector<double> windows;
    for (const Picos at : {1000 * NS, 2000 * NS, 3000 * NS, 4500 * NS})
    {
        Simulator::Schedule(Time(at), [&, at] { mpcc.Ack(at, 50'000); });
        Simulator::Schedule(Time(at + 3000 * NS + 1),
                            [&] { windows.push_back(mpcc.flow.WindowBytes()); });
    }
    Simulator::Run();
    Simulator::Destroy();
    for (size_t i = 0; i < expected.size(); ++i)
    {
        EXPECT_EQ(windows[i], expected[i], "decision " << i);
    }
    EXPECT_LT(expected[0], 77'000, "no bound");
    EXPECT_GT(expected[3], 2'000, "no bound");

    for (const char* time : {"1us", "6us"})
    {
        TestNetwork net(Incast(4, 4'000'000, {{"ComputationTime", time}}));
        net->Run();
        EXPECT_LT(net.PortTo(5, 6).Stats()->Percentile(0.5), 20 * 1080, time);
        const Picos ideal = IdealTime(4 * 4'000'000ULL / 1000 * 1080, 100e9, Rounding::Exact);
        EXPECT_LT(net->EndTime(), ideal + ideal / 20, "no capacity is lost");
    }
}

/// Measured time changes simulated time, so nothing about it can be exact.
TEST("decisions are measured on request only, by flow and in all")
{
    {
        TestNetwork net(Incast(2, 100'000, {}));
        net->Run();
        EXPECT_EQ(net.Recorded().counters.Totals().count("decision_us_p50"), 0, "not by default");
        const std::vector<double>& solves = net.Recorded().counters.ByFlow().at("mpcc_decisions");
        EXPECT_EQ(solves.size(), 2, "a value per flow");
        EXPECT_EQ(solves[0], 100, "a decision per ACK");
        EXPECT_EQ(solves[0] + solves[1],
                  Counter(net.Recorded().counters.Totals(), "mpcc_decisions"),
                  "which add up");
    }
    TestNetwork net(Incast(2, 100'000, {{"MeasureTime", "true"}, {"ChargeMeasuredTime", "true"}}));
    net->Run();
    EXPECT_EQ(net->Unfinished(), 0, "all done");
    const double median = Counter(net.Recorded().counters.Totals(), "decision_us_p50");
    EXPECT_GT(median, 0.01, "some time");
    EXPECT_LT(median, 1000.0, "not for ever");
    EXPECT_LE(median, Counter(net.Recorded().counters.Totals(), "decision_us_p95"), "p95");
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

/// Zheng 2024, eqs. 2.2 and 2.3, for the path that Fig. 3.1 draws.
TEST("base RTT and BDP_max follow eqs. 2.2 and 2.3")
{
    for (double rate : {1e9, 100e9})
    {
        Scenario s = Dumbbell(4, rate);
        s.published = false;
        AddFlow(s, 0, 4, 1000);
        PathFacts path;
        TestNetwork net(std::move(s), [&](Flow& flow, const FlowEntry&) { path = flow.Path(); });
        net->Run();
        // 2 * three links of 1 us, and a packet's payload into each
        const double rttNs = 2 * 3 * 1000 + 3 * 1000 * 8 * 1e9 / rate;
        EXPECT_NEAR(path.baseRtt / 1000.0, rttNs, 1e-6, "eq. 2.2");
        EXPECT_NEAR(path.bdpBytes, rttNs * 1e-9 * rate / 8, 1.0, "eq. 2.3");
    }
}

/**
 * Zheng 2024, Fig. 3.6 and sec. 3.4: three flows, two bottlenecks. Flow 0 passes both; flow 1 shares the link
 * from switch 1 to 2 with it, flow 2 the link from switch 3 to the receiver. Of the two queues a sender uses the longer
 * one as its state, so both return to zero "while preventing the under utilization".
 */
TEST("two bottlenecks: both queues go to zero and both links stay full (Fig. 3.6)")
{
    enum Node : uint32_t
    {
        SENDER_0,
        SENDER_1,
        SENDER_2,
        RECEIVER_1,
        RECEIVER,
        SWITCH_1,
        SWITCH_2,
        SWITCH_3,
    };

    constexpr Picos DRAINED = 300 * US;
    constexpr uint64_t BYTES = 10'000'000;
    Scenario s;
    s.timeLimit = PS_PER_SECOND;
    s.published = false;
    s.isSwitch = {false, false, false, false, false, true, true, true};
    for (const auto& [a, b] : std::vector<std::pair<uint32_t, uint32_t>>{{SENDER_0, SWITCH_1},
                                                                         {SENDER_1, SWITCH_1},
                                                                         {SWITCH_1, SWITCH_2},
                                                                         {RECEIVER_1, SWITCH_2},
                                                                         {SWITCH_2, SWITCH_3},
                                                                         {SENDER_2, SWITCH_3},
                                                                         {SWITCH_3, RECEIVER}})
    {
        s.links.push_back({a, b, 100e9, 1000 * NS});
    }
    s.controllers.push_back({"mpcc", {}});
    s.queueSeriesInterval = 1 * US;
    AddFlow(s, SENDER_0, RECEIVER, BYTES);
    AddFlow(s, SENDER_1, RECEIVER_1, BYTES);
    AddFlow(s, SENDER_2, RECEIVER, BYTES);
    TestNetwork net(std::move(s));
    net->Run();

    const CommonInterval& all = net.Recorded().commonInterval;
    const double seconds = static_cast<double>(all.End() - all.Begin()) / PS_PER_SECOND;
    const auto rate = [&](size_t flow)
    { return static_cast<double>(all.ReceivedBytes()[flow]) * 1.080 * 8 / seconds / 100e9; };
    EXPECT_GT(rate(0) + rate(1), 0.97, "use of the first bottleneck");
    EXPECT_GT(rate(0) + rate(2), 0.97, "use of the second bottleneck");
    EXPECT_NEAR(rate(0), 0.5, 0.03, "the flow through both has its share");

    for (const auto& [node, peer] :
         std::vector<std::pair<uint32_t, uint32_t>>{{SWITCH_1, SWITCH_2}, {SWITCH_3, RECEIVER}})
    {
        const SwitchPort& port = net.PortTo(node, peer);
        const QueueSampler& sampled = *net.Recorded().queues;
        const auto& lengths = sampled.Of(node, port.Index());
        uint64_t peak = 0;
        uint64_t later = 0;
        for (size_t i = 0; i < lengths.size(); ++i)
        {
            const Picos at = sampled.Times()[i];
            uint64_t& most = at < DRAINED ? peak : later;
            most = at < all.End() ? std::max(most, lengths[i]) : most;
        }
        EXPECT_GT(peak, 20'000, "a bottleneck, node " << node);
        EXPECT_LT(later, 5 * 1080, "and then not, node " << node);
    }
}

} // namespace

} // namespace ns3::env::rdma::test
