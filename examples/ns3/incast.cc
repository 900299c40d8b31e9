// SPDX-License-Identifier: GPL-2.0-or-later
// Incast over RDMA as an ns-3 script: flows from many hosts to one through a leaf switch.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/rdma-module.h"

#include <iostream>

using namespace ns3;

namespace
{

uint64_t g_marks = 0;

void
OnCompleted(Ptr<const RdmaApplication> flow, Time duration)
{
    std::cout << "flow " << flow->GetFlowId() << ": " << flow->GetSize() << " B in "
              << duration.GetNanoSeconds() << " ns\n";
}

void
OnMark(uint32_t, uint32_t)
{
    ++g_marks;
}

} // namespace

int
main(int argc, char** argv)
{
    uint32_t senders = 8;
    uint64_t size = 1'000'000;
    std::string controller = "hpcc";
    std::string rate = "100Gbps";
    std::string pcap;
    bool pfc = true;
    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "Hosts that send", senders);
    cmd.AddValue("size", "Bytes of each flow", size);
    cmd.AddValue("controller", "Congestion controller: hpcc, dcqcn, agent, ...", controller);
    cmd.AddValue("rate", "Rate of each link", rate);
    cmd.AddValue("pfc", "Whether switches pause their neighbours", pfc);
    cmd.AddValue("pcap", "Prefix of captures", pcap);
    cmd.Parse(argc, argv);

    RdmaHelper rdma; // before the first node: it chooses the event loop
    rdma.SetDeviceAttribute("DataRate", StringValue(rate));
    rdma.SetChannelAttribute("Delay", StringValue("1us"));
    rdma.SetNetworkAttribute("Pfc", BooleanValue(pfc));
    rdma.SetController(controller);

    NodeContainer hosts(senders + 1);
    NodeContainer leaf(1);
    rdma.Install(hosts, leaf.Get(0));
    const Ptr<Node> receiver = hosts.Get(senders);
    for (uint32_t i = 0; i < senders; ++i)
    {
        rdma.AddFlow(hosts.Get(i), receiver, size);
    }
    if (!pcap.empty())
    {
        rdma.EnablePcap(pcap, RdmaHelper::CardOf(receiver));
    }
    Config::ConnectWithoutContext(
        "/NodeList/*/ApplicationList/*/$ns3::RdmaApplication/FlowCompleted",
        MakeCallback(&OnCompleted));
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::RdmaNetDevice/Mark",
                                  MakeCallback(&OnMark));

    Simulator::Stop(MilliSeconds(10));
    Simulator::Run();
    std::cout << "marks: " << g_marks << ", pauses: " << rdma.GetNetwork()->GetNPauseFrames()
              << ", drops: " << rdma.GetNetwork()->GetNDrops() << "\n";
    Simulator::Destroy();
    return 0;
}
