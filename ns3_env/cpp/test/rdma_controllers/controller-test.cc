// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of all controllers by the contract: names, attributes, and any order of hooks on a flow.
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
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

} // namespace

} // namespace ns3::env::rdma
