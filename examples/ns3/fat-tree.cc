// SPDX-License-Identifier: GPL-2.0-or-later
// Permutation traffic over a fat-tree as an ns-3 script: each host sends to one in another pod.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/rdma-module.h"

#include <algorithm>
#include <iostream>

using namespace ns3;

int
main(int argc, char** argv)
{
    uint32_t ports = 4;
    uint64_t size = 500'000;
    std::string controller = "dcqcn";
    std::string balancing = "ecmp";
    CommandLine cmd(__FILE__);
    cmd.AddValue("ports", "Ports of each switch", ports);
    cmd.AddValue("size", "Bytes of each flow", size);
    cmd.AddValue("controller", "Congestion controller", controller);
    cmd.AddValue("balancing", "ecmp, random, round_robin or least_queue", balancing);
    cmd.Parse(argc, argv);

    RdmaHelper rdma;
    rdma.SetController(controller);
    rdma.SetNetworkAttribute("LoadBalancing", StringValue(balancing));
    RdmaFatTreeHelper tree(ports);
    tree.Build(rdma);

    const NodeContainer& hosts = tree.GetHosts();
    const uint32_t podHosts = ports * ports / 4;
    const auto start = CreateObject<UniformRandomVariable>(); // by RngSeed and RngRun
    Time slowest;
    ApplicationContainer flows;
    for (uint32_t i = 0; i < hosts.GetN(); ++i)
    {
        const Ptr<Node> other = hosts.Get((i + podHosts) % hosts.GetN());
        flows.Add(
            rdma.AddFlow(hosts.Get(i), other, size, NanoSeconds(start->GetInteger(0, 10'000))));
    }
    Simulator::Run();
    for (uint32_t i = 0; i < flows.GetN(); ++i)
    {
        const auto flow = DynamicCast<RdmaApplication>(flows.Get(i));
        slowest = std::max(slowest, flow->GetCompletionTime());
    }
    std::cout << hosts.GetN() << " flows, the slowest in " << slowest.GetNanoSeconds() << " ns\n";
    Simulator::Destroy();
    return 0;
}
