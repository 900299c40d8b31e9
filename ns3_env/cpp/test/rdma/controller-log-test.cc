// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the log of states and counters that controllers declare.
#include "test-network.h"

#include <map>
#include <set>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-controller-log");

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
