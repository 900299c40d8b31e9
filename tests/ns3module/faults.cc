// SPDX-License-Identifier: GPL-2.0-or-later
// A script with one mistake, which its argument names, or with none.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/rdma-module.h"

#include <iostream>
#include <memory>

using namespace ns3;

namespace
{

RdmaHelper* g_rdma = nullptr;
NodeContainer* g_hosts = nullptr;

/// A second flow, which was not announced, in the other direction.
void
SendBack(Ptr<const RdmaApplication> flow, Time)
{
    std::cout << "flow " << flow->GetFlowId() << " at " << Simulator::Now().GetNanoSeconds()
              << "\n";
    if (flow->GetFlowId() == 0)
    {
        const Ptr<RdmaApplication> back = g_rdma->AddFlow(g_hosts->Get(1), g_hosts->Get(0), 5000);
        back->TraceConnectWithoutContext("FlowCompleted", MakeCallback(&SendBack));
    }
}

void
Tick(int left)
{
    std::cout << "tick at " << Simulator::Now().GetNanoSeconds() << "\n";
    if (left > 0)
    {
        Simulator::Schedule(MicroSeconds(1), &Tick, left - 1);
    }
}

} // namespace

int
main(int argc, char** argv)
{
    const std::string fault = argc > 1 ? argv[1] : "";
    const auto is = [&](const std::string& name) { return fault == name; };
    if (is("node first"))
    {
        NodeContainer early(1);
    }
    RdmaHelper rdma;
    g_rdma = &rdma;
    rdma.SetController(is("controller") ? "hpc" : "hpcc");
    rdma.SetController("hpcc", "Eta", DoubleValue(is("controller attribute") ? 7 : 0.9));
    rdma.SetNetworkAttribute("PfcAlphaShift", UintegerValue(is("attribute") ? 99 : 3));
    rdma.SetNetworkAttribute(is("attribute name") ? "Pfd" : "Pfc", BooleanValue(true));
    rdma.SetNetworkAttribute("Ecn", StringValue(is("ecn") ? "always" : "auto"));
    rdma.SetNetworkAttribute("Settings", StringValue(is("settings") ? R"({"lose": 1})" : ""));
    NodeContainer hosts(3);
    g_hosts = &hosts;
    NodeContainer switches(2);
    rdma.InstallSwitch(switches);
    const NetDeviceContainer ends = rdma.Connect(hosts.Get(0), switches.Get(0));
    rdma.Connect(hosts.Get(1), switches.Get(0));
    rdma.Connect(hosts.Get(2), switches.Get(is("route") ? 1 : 0));
    if (is("twice"))
    {
        DynamicCast<RdmaNetDevice>(ends.Get(0))->Attach(CreateObject<RdmaChannel>());
    }
    if (is("loose"))
    {
        hosts.Get(0)->AddDevice(CreateObject<RdmaNetDevice>());
    }
    if (is("agent") || is("hang"))
    {
        rdma.SetController("agent");
    }
    const Ptr<RdmaApplication> flow =
        rdma.AddFlow(hosts.Get(0), hosts.Get(is("itself") ? 0 : 1), 20000);
    if (is("route"))
    {
        rdma.AddFlow(hosts.Get(0), hosts.Get(2), 20000);
    }
    if (is("remote"))
    {
        flow->SetAttribute("Remote", AddressValue(Mac48Address("00:00:00:00:00:09")));
    }
    if (is("local"))
    {
        flow->SetAttribute("Local", AddressValue(RdmaHelper::CardOf(hosts.Get(1))->GetAddress()));
    }
    if (is("class"))
    {
        flow->SetAttribute("TrafficClass", UintegerValue(3));
    }
    if (is("events"))
    {
        flow->TraceConnectWithoutContext("FlowCompleted", MakeCallback(&SendBack));
        Simulator::Schedule(MicroSeconds(1), &Tick, 2);
    }
    if (is("hang"))
    {
        Simulator::Schedule(MicroSeconds(1),
                            []
                            {
                                while (Simulator::Now().IsPositive())
                                    ;
                            });
    }
    Simulator::Run();
    std::cout << "over\n";
    Simulator::Destroy();
    return 0;
}
