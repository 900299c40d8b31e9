// SPDX-License-Identifier: GPL-2.0-or-later
// Does every controller keep the contract? Names, attributes, and any order of hooks on a flow.
#include "fake-flow.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3_env/rdma/congestion-control/mpcc.h"
#include "ns3_env/rdma/congestion-control/state-switch.h"
#include "ns3_env/rdma/contract/congestion-control.h"
#include "ns3_env/rdma/decision/deciding-controller.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace ns3::rdma
{

namespace
{

Ptr<CongestionControl>
Make(const std::string& name)
{
    return ObjectFactory("rdma::" + name).Create<CongestionControl>();
}

} // namespace

class ControllerNamesTestCase : public TestCase
{
  public:
    ControllerNamesTestCase()
        : TestCase("controllers are found by name, sorted, with help for every attribute")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<std::string> names = ListControllers();
        NS_TEST_EXPECT_MSG_EQ(std::is_sorted(names.begin(), names.end()), true, "sorted");
        for (const char* expected :
             {"dcqcn", "dctcp", "fixed-window", "hpcc", "mpcc", "swift", "timely"})
        {
            NS_TEST_EXPECT_MSG_EQ(std::count(names.begin(), names.end(), expected), 1, expected);
        }
        for (const std::string& name : names)
        {
            const TypeId tid = TypeId::LookupByName("rdma::" + name);
            for (size_t i = 0; i < tid.GetAttributeN(); ++i)
            {
                NS_TEST_EXPECT_MSG_GT(tid.GetAttribute(i).help.size(),
                                      10,
                                      tid.GetAttribute(i).name);
            }
        }
    }
};

/// Feedback no network would give: repeated, reordered, empty, zero and enormous.
class Feedback
{
  public:
    Feedback(const PathFacts& facts, uint64_t seed)
        : m_facts(facts),
          m_random(seed)
    {
    }

    double Unit() { return std::uniform_real_distribution<double>(0.0, 1.0)(m_random); }
    bool Chance(double probability) { return Unit() < probability; }

    Picos Rtt()
    {
        if (Chance(0.05))
        {
            return Chance(0.5) ? 0 : 100 * PS_PER_SECOND;
        }
        return m_facts.baseRtt + static_cast<Picos>(Unit() * 1e9 * (Chance(0.5) ? 1.0 : 0.01));
    }

    std::vector<IntRecord> Records(Picos now)
    {
        if (!m_past.empty() && Chance(0.3)) // repeated or out of order
        {
            return m_past[static_cast<size_t>(Unit() * static_cast<double>(m_past.size()))];
        }
        std::vector<IntRecord> hops(static_cast<size_t>(Unit() * (MAX_INT_HOPS + 1)));
        for (IntRecord& hop : hops)
        {
            hop = Record(now);
        }
        m_past.push_back(hops);
        return hops;
    }

  private:
    IntRecord Record(Picos now)
    {
        IntRecord hop{.txBytes = static_cast<uint64_t>(Unit() * 1e9),
                      .timeNs = ToNanos(now) - static_cast<int64_t>(Unit() * 1e4),
                      .rateBps = Chance(0.5) ? 100'000'000'000U : 400'000'000'000U,
                      .queueBytes = Chance(0.3) ? 0U : static_cast<uint32_t>(Unit() * 3e7),
                      .flows = static_cast<uint32_t>(Unit() * 300)};
        Spoil(hop.txBytes, 0.02);
        Spoil(hop.timeNs, 0.002);
        Spoil(hop.rateBps, 0.02);
        Spoil(hop.queueBytes, 0.02);
        Spoil(hop.flows, 0.02);
        return hop;
    }

    /// Makes a field zero or as large as it can be.
    template <typename T>
    void Spoil(T& field, double probability)
    {
        if (Chance(probability))
        {
            field = Chance(0.5) ? T{0} : std::numeric_limits<T>::max() / 2;
        }
    }

    const PathFacts& m_facts;
    std::mt19937_64 m_random;
    std::vector<std::vector<IntRecord>> m_past;
};

/// One flow's hooks in any order, at times of a simulation of its own (timers run between them).
class ControllerFuzzTestCase : public TestCase
{
  public:
    ControllerFuzzTestCase()
        : TestCase("any hooks leave a window at or above the floor and a rate in [min, line]")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string& name : ListControllers())
        {
            const TypeId tid = TypeId::LookupByName("rdma::" + name);
            if (tid.IsChildOf(
                    DecidingController::GetTypeId())) // writes what a policy says; needs one
            {
                continue;
            }
            for (uint64_t seed = 0; seed < 30 && !IsStatusFailure(); ++seed)
            {
                RunFlow(name, seed);
            }
        }
    }

    void RunFlow(const std::string& name, uint64_t seed)
    {
        Ptr<CongestionControl> control = Make(name);
        const PathFacts facts =
            DumbbellFacts(1048 + control->GetTelemetryHeader().wireBytes, seed % 2 ? 1e9 : 100e9);
        FakeFlow flow(facts);
        Feedback feedback(facts, seed);
        control->OnFlowStart(flow);
        Check(name, flow, *control);
        Picos at = 0;
        for (int i = 0; i < 500; ++i)
        {
            at += static_cast<Picos>(feedback.Unit() * (feedback.Chance(0.1) ? 1e9 : 1e7));
            Simulator::Schedule(Time(at),
                                [&]()
                                {
                                    if (IsStatusFailure()) // one report is enough
                                    {
                                        return;
                                    }
                                    Check(name + ", between hooks", flow, *control);
                                    CallOneHook(*control, flow, feedback);
                                    Check(name, flow, *control);
                                });
        }
        double lastRate = 0;
        Simulator::Schedule(Time(at),
                            [&]()
                            {
                                control->OnFlowEnd(flow, at);
                                lastRate = flow.RateBps();
                            });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow.RateBps(), lastRate, name << " acts after its flow's end");
        for (const auto& [counter, value] : control->GetCounters())
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(value, 0.0, counter);
        }
        Simulator::Destroy();
    }

    static void CallOneHook(CongestionControl& control, FakeFlow& flow, Feedback& feedback)
    {
        const Picos now = Simulator::Now().GetTimeStep();
        const double kind = feedback.Unit();
        if (kind < 0.3)
        {
            flow.Sent(flow.SentBytes() + 1000);
            control.OnPacketSent(flow, now, flow.Path().packetBytes);
        }
        else if (kind < 0.9)
        {
            // Duplicates, single packets, and ACKs that stand for many.
            const double packets = feedback.Chance(0.1) ? 0 : std::floor(1 + feedback.Unit() * 1.2);
            const uint64_t to = feedback.Chance(0.02)
                                    ? flow.SentBytes()
                                    : flow.AckedBytes() + 1000 * static_cast<uint64_t>(packets);
            const uint64_t acked = std::min(flow.SentBytes(), to);
            const auto newly = static_cast<uint32_t>(acked - flow.AckedBytes());
            flow.Acked(acked);
            const std::vector<IntRecord> hops = feedback.Records(now);
            control.OnAck(flow,
                          {.now = now,
                           .rtt = feedback.Rtt(),
                           .ackedBytes = acked,
                           .newlyAckedBytes = newly,
                           .ecnMarked = feedback.Chance(0.5),
                           .hops = hops});
        }
        else if (kind < 0.96)
        {
            flow.Sent(flow.AckedBytes()); // go-back-N
            kind < 0.93 ? control.OnNack(flow, now) : control.OnTimeout(flow, now);
        }
        else
        {
            control.OnCongestionNotification(flow,
                                             {.now = now,
                                              .offsetBytes = (feedback.Unit() - 0.5) * 1e7,
                                              .deltaBytes = (feedback.Unit() - 0.5) * 1e7,
                                              .congestionPoint = feedback.Chance(0.5) ? 0U : 1U});
        }
    }

    void Check(const std::string& name, const FlowState& flow, const CongestionControl& control)
    {
        constexpr double ROUNDING = 1e-12;
        NS_TEST_ASSERT_MSG_EQ(std::isnan(flow.WindowBytes()), false, name << ": window");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(flow.WindowBytes(),
                                    control.GetWindowFloor(flow),
                                    name << ": window floor");
        NS_TEST_ASSERT_MSG_GT(control.GetWindowFloor(flow), 0, name << ": the floor is a window");
        NS_TEST_ASSERT_MSG_GT(control.GetRateFloor(flow), 0, name << ": the floor is a rate");
        NS_TEST_ASSERT_MSG_EQ(std::isfinite(flow.RateBps()), true, name << ": rate");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(flow.RateBps(),
                                    control.GetRateFloor(flow) * (1 - ROUNDING),
                                    name << ": least rate");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(flow.RateBps(),
                                    flow.Path().hostRateBps * (1 + ROUNDING),
                                    name << ": line rate");
    }
};

class FixedWindowTestCase : public TestCase
{
  public:
    FixedWindowTestCase()
        : TestCase("fixed-window sets its window once, or none at all")
    {
    }

  private:
    void DoRun() override
    {
        const PathFacts facts = DumbbellFacts(1048);
        FakeFlow open(facts);
        Make("fixed-window")->OnFlowStart(open);
        NS_TEST_EXPECT_MSG_EQ(open.WindowBytes(), FlowState::NO_WINDOW, "no control");

        FakeFlow windowed(facts);
        auto control = Make("fixed-window");
        control->SetAttribute("Window", DoubleValue(12000));
        control->OnFlowStart(windowed);
        control->OnAck(windowed, {});
        NS_TEST_EXPECT_MSG_EQ(windowed.WindowBytes(), 12000, "constant");
        NS_TEST_EXPECT_MSG_EQ(windowed.RateBps(), 100e9, "line rate");
    }
};

/// The in-simulator controller and the law alone give the same windows from the same numbers.
class MpccSameLawTestCase : public TestCase
{
  public:
    MpccSameLawTestCase()
        : TestCase("mpcc on a flow and the bare law give identical windows")
    {
    }

  private:
    void DoRun() override
    {
        const PathFacts facts = DumbbellFacts(1080);
        FakeFlow flow(facts);
        auto control = Make("mpcc");
        NS_TEST_EXPECT_MSG_EQ(control->GetTelemetryHeader().wireBytes, 32, "Zheng 2024, Fig. 5.1");
        control->OnFlowStart(flow);
        NS_TEST_EXPECT_MSG_EQ(flow.WindowBytes(), facts.bdpBytes, "line rate at first");
        NS_TEST_EXPECT_MSG_EQ_TOL(control->GetRateFloor(flow),
                                  100e9 * 0.01 * 1080 / facts.bdpBytes,
                                  1e-3,
                                  "the least window over a base RTT (eq. 3.3)");
        MpccLaw law({});
        for (uint32_t i = 0; i < 300; ++i)
        {
            const std::vector<IntRecord> hops{{.txBytes = 0,
                                               .timeNs = 0,
                                               .rateBps = 100'000'000'000,
                                               .queueBytes = 0,
                                               .flows = 1},
                                              {.txBytes = 0,
                                               .timeNs = 0,
                                               .rateBps = 100'000'000'000,
                                               .queueBytes = (i * 7919) % 90000,
                                               .flows = 4}};
            const double expected = law.Decide(MakeMpccInput(flow, SelectStateSwitch(hops, facts)));
            control->OnAck(flow, {.rtt = facts.baseRtt, .hops = hops});
            NS_TEST_ASSERT_MSG_EQ(flow.WindowBytes(), expected, "bit for bit");
            NS_TEST_ASSERT_MSG_EQ_TOL(flow.RateBps(),
                                      expected * 8 / 6240e-9,
                                      1.0,
                                      "paced at W / base RTT (eq. 3.3)");
        }

        control = Make("mpcc");
        control->SetAttribute("Pacing", BooleanValue(false));
        FakeFlow unpaced(facts);
        control->OnFlowStart(unpaced);
        control->OnAck(unpaced, {.rtt = facts.baseRtt, .hops = {}});
        NS_TEST_EXPECT_MSG_EQ(unpaced.RateBps(), facts.hostRateBps, "line rate");
    }
};

class ControllerTestSuite : public TestSuite
{
  public:
    ControllerTestSuite()
        : TestSuite("rdma-controllers", Type::UNIT)
    {
        AddTestCase(new ControllerNamesTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ControllerFuzzTestCase, TestCase::Duration::QUICK);
        AddTestCase(new FixedWindowTestCase, TestCase::Duration::QUICK);
        AddTestCase(new MpccSameLawTestCase, TestCase::Duration::QUICK);
    }
};

static ControllerTestSuite g_controllerTestSuite;

} // namespace ns3::rdma
