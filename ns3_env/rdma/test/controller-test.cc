// SPDX-License-Identifier: GPL-2.0-or-later
// Does every controller keep the contract? Names, attributes, and any order of hooks on a flow.
#include "fake-flow.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3/test.h"
#include "ns3_env/rdma/congestion-control/congestion-control.h"
#include "ns3_env/rdma/congestion-control/mpcc.h"
#include "ns3_env/rdma/congestion-control/state-switch.h"

#include <algorithm>
#include <cmath>
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
        for (const char* expected : {"fixed-window", "hpcc", "mpcc"})
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

/// Hooks in any order, with any feedback.
class ControllerFuzzTestCase : public TestCase
{
  public:
    explicit ControllerFuzzTestCase(std::string name)
        : TestCase(name + ": any hooks leave a window at or above the floor and a rate above zero"),
          m_name(std::move(name))
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(7);
        std::uniform_real_distribution<double> unit(0.0, 1.0);
        for (int run = 0; run < 20; ++run)
        {
            auto control = Make(m_name);
            const PathFacts facts = DumbbellFacts(1048 + control->GetTelemetryHeader().wireBytes,
                                                  run % 2 ? 1e9 : 100e9);
            FakeFlow flow(facts);
            control->OnFlowStart(flow);
            Picos now = 0;
            uint64_t sent = 0;
            uint64_t acked = 0;
            for (int i = 0; i < 500; ++i)
            {
                now += static_cast<Picos>(unit(random) * 1e7);
                const double kind = unit(random);
                if (kind < 0.3)
                {
                    sent += 1000;
                    flow.Sent(sent);
                    control->OnPacketSent(flow, now, facts.packetBytes);
                }
                else if (kind < 0.9)
                {
                    acked = std::min(sent, acked + (unit(random) < 0.9 ? 1000 : 0));
                    flow.Acked(acked);
                    std::vector<IntRecord> hops(static_cast<size_t>(unit(random) * 4));
                    for (IntRecord& hop : hops)
                    {
                        hop = {.txBytes = static_cast<uint64_t>(unit(random) * 1e9),
                               .timeNs = ToNanos(now) - static_cast<int64_t>(unit(random) * 1e4),
                               .rateBps = unit(random) < 0.5 ? 100'000'000'000u : 400'000'000'000u,
                               .queueBytes = unit(random) < 0.3
                                                 ? 0u
                                                 : static_cast<uint32_t>(unit(random) * 3e7),
                               .flows = static_cast<uint32_t>(unit(random) * 300)};
                    }
                    const Picos rtt = facts.baseRtt + static_cast<Picos>(unit(random) * 1e9);
                    control->OnAck(flow,
                                   {.now = now,
                                    .rtt = rtt,
                                    .ackedBytes = acked,
                                    .newlyAckedBytes = 1000,
                                    .ecnMarked = unit(random) < 0.5,
                                    .hops = hops});
                }
                else if (kind < 0.93)
                {
                    control->OnNack(flow, now);
                }
                else if (kind < 0.96)
                {
                    control->OnTimeout(flow, now);
                }
                else
                {
                    control->OnCongestionNotification(flow, {.now = now, .offsetBytes = 1e4});
                }
                NS_TEST_ASSERT_MSG_EQ(std::isnan(flow.WindowBytes()), false, "window");
                NS_TEST_ASSERT_MSG_GT_OR_EQ(flow.WindowBytes(),
                                            control->GetWindowFloor(flow),
                                            "window floor");
                NS_TEST_ASSERT_MSG_EQ(std::isfinite(flow.RateBps()), true, "rate");
                NS_TEST_ASSERT_MSG_GT(flow.RateBps(), 0.0, "rate");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(flow.RateBps(),
                                            facts.hostRateBps * (1 + 1e-12),
                                            "rate");
            }
            control->OnFlowEnd(flow, now);
            for (const auto& [counter, value] : control->GetCounters())
            {
                NS_TEST_EXPECT_MSG_GT_OR_EQ(value, 0.0, counter);
            }
        }
    }

    std::string m_name;
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
        for (const char* name : {"fixed-window", "hpcc", "mpcc"})
        {
            AddTestCase(new ControllerFuzzTestCase(name), TestCase::Duration::QUICK);
        }
        AddTestCase(new FixedWindowTestCase, TestCase::Duration::QUICK);
        AddTestCase(new MpccSameLawTestCase, TestCase::Duration::QUICK);
    }
};

static ControllerTestSuite g_controllerTestSuite;

} // namespace ns3::rdma
