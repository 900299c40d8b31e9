// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of all controllers by the contract: names, attributes, and any order of hooks on a flow.
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3_env/cpp/contract/bottleneck-hop.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/mpcc.h"
#include "ns3_env/cpp/rdma/program/controller-check.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>

namespace ns3::env::rdma
{

namespace
{

SUITE("rdma-controllers");

Ptr<CongestionControl>
Make(const std::string& name)
{
    return ObjectFactory("rdma::" + name).Create<CongestionControl>();
}

TEST("controllers are sorted by name, with help for every attribute")
{
    const std::vector<std::string> names = ListControllers();
    EXPECT(std::is_sorted(names.begin(), names.end()), "sorted");
    for (const std::string& name : names)
    {
        const TypeId tid = TypeId::LookupByName("rdma::" + name);
        for (size_t i = 0; i < tid.GetAttributeN(); ++i)
        {
            EXPECT_GT(tid.GetAttribute(i).help.size(), 10, tid.GetAttribute(i).name);
        }
    }
}

TEST("any hooks leave a window at or above the floor and a rate in [min, line]")
{
    for (const std::string& name : CheckableControllers())
    {
        EXPECT_EQ(BrokenPromise(name).value_or("kept"), "kept", name);
    }
}

TEST("fixed-window sets its window once, or none at all")
{
    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    auto control = Make("fixed-window");
    const auto windowOf = [&](double bytes, double bdps)
    {
        control->SetAttribute("Window", DoubleValue(bytes));
        control->SetAttribute("WindowBdp", DoubleValue(bdps));
        control->OnFlowStart(flow);
        control->OnAck(flow, {});
        EXPECT_EQ(flow.RateBps(), 100e9, "line rate");
        return flow.WindowBytes();
    };
    EXPECT_EQ(windowOf(0, 0), FlowState::NO_WINDOW, "no control");
    EXPECT_EQ(windowOf(12000, 0), 12000, "constant");
    EXPECT_EQ(windowOf(0, 0.5), facts.bdpBytes / 2, "of the flow's own path");
    EXPECT_EQ(control->GetWindowFloor(flow), facts.bdpBytes / 2, "never less");
    EXPECT_EQ(windowOf(12000, 0.5), 12000, "bytes come first");
}

/// The controller on a flow and the bare control compute the same windows from the same numbers.
TEST("mpcc on a flow and the bare control give identical windows")
{
    const PathFacts facts = DumbbellFacts(1080);
    FakeFlow flow(facts);
    auto control = Make("mpcc");
    EXPECT_EQ(control->GetIntRequest().wireBytes, 32, "Zheng 2024, Fig. 5.1");
    control->OnFlowStart(flow);
    EXPECT_EQ(flow.WindowBytes(), facts.bdpBytes, "line rate at first");
    const double least = 100e9 * 0.01 * 1080 / facts.bdpBytes;
    EXPECT_NEAR(control->GetRateFloor(flow), least, 1e-3, "of a base RTT (eq. 3.3)");
    MpccControl alone({});
    const auto same = [&](const std::vector<IntRecord>& hops, Bottleneck rule)
    {
        const StateSwitch state = SelectStateSwitch(hops, facts, rule);
        const double expected = alone.Decide(MakeMpccInput(flow, state));
        control->OnAck(flow, {.rtt = facts.baseRtt, .hops = hops});
        ASSERT_EQ(flow.WindowBytes(), expected, "bit for bit");
        ASSERT_NEAR(flow.RateBps(), expected * 8 / 6240e-9, 1.0, "paced at W / base RTT (eq. 3.3)");
    };
    for (uint32_t i = 0; i < 300; ++i)
    {
        same({{0, 0, 100'000'000'000, 0, 1}, {0, 0, 100'000'000'000, (i * 7919) % 90000, 4}},
             Bottleneck::LongestQueue);
    }
    for (const auto& [rule, name] : {std::pair{Bottleneck::LongestQueue, "LongestQueue"},
                                     std::pair{Bottleneck::LongestDrain, "LongestDrain"}})
    {
        control = Make("mpcc");
        control->SetAttribute("Bottleneck", StringValue(name));
        control->OnFlowStart(flow);
        alone = MpccControl({});
        same({{0, 0, 400'000'000'000, 9000, 2}, {0, 0, 100'000'000'000, 5000, 4}}, rule);
    }
    control = Make("mpcc");
    control->SetAttribute("Pacing", BooleanValue(false));
    FakeFlow unpaced(facts);
    control->OnFlowStart(unpaced);
    control->OnAck(unpaced, {.rtt = facts.baseRtt, .hops = {}});
    EXPECT_EQ(unpaced.RateBps(), facts.hostRateBps, "line rate");
}

} // namespace

} // namespace ns3::env::rdma
