// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of all controllers by the contract: names, attributes, any order of hooks, their log.
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/program/controller-check.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <algorithm>
#include <map>
#include <set>

namespace ns3::env::rdma::test
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

/// Four flows of 500 kB into 100 Gb/s, with marks.
Scenario
Recorded(const std::string& controller)
{
    Scenario s = Exact(4, {}, controller);
    s.ecn = {true, 60e3, 60e3, 1.0, 100e9};
    s.recordControllerState = true;
    s.recordControllerCounters = true;
    AddIncast(s, 4, 500'000);
    return s;
}

TEST("every state that a controller declares is recorded for every flow, in time's order")
{
    const std::map<std::string, std::set<std::string>> declared{
        {"dcqcn", {"Alpha", "TargetRateBps"}},
        {"dctcp", {"Alpha"}},
        {"fixed-window", {}},
        {"hpcc", {"ReferenceRateBps", "Utilisation"}},
        {"mpcc", {"FairShareBytes", "PredictedQueueBytes", "StateHop"}},
        {"swift", {"TargetDelayNs", "WindowPackets"}},
        {"timely", {"RttGradient"}}};
    for (const auto& [controller, names] : declared)
    {
        TestNetwork net(Recorded(controller));
        net->Run();
        const ControllerLog& log = *net.Recorded().states;
        std::map<uint32_t, std::set<std::string>> seen;
        Picos last = 0;
        for (const ControllerChange& change : log.Changes())
        {
            seen[change.flow].insert(log.Names()[change.name]);
            ASSERT_GE(change.time, last, controller);
            last = change.time;
        }
        EXPECT_EQ(seen.size(), names.empty() ? 0 : 4, controller << ": flows");
        for (const auto& [flow, found] : seen)
        {
            EXPECT(found == names, controller << ", flow " << flow);
        }
    }
}

TEST("the last row of a counter is what the flow's counters say at its end")
{
    TestNetwork net(Recorded("mpcc"));
    net->Run();
    const ControllerLog& log = *net.Recorded().counts;
    std::map<uint32_t, double> last;
    for (const ControllerChange& change : log.Changes())
    {
        if (log.Names()[change.name] == "Decisions")
        {
            ASSERT_EQ(change.value, ++last[change.flow], "one by one");
        }
    }
    const auto& counted = net.Recorded().counters.ByFlow().at("mpcc_decisions");
    for (uint32_t flow = 0; flow < 4; ++flow)
    {
        EXPECT_EQ(last[flow], counted[flow], "flow " << flow);
    }
    EXPECT(net.Recorded().states.has_value(), "both at once");
}

} // namespace

} // namespace ns3::env::rdma::test
