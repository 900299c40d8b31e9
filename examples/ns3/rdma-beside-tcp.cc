// SPDX-License-Identifier: GPL-2.0-or-later
// Four RDMA flows and four of ns-3's own TCP through one leaf switch, in its buffer.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/rdma-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char** argv)
{
    uint32_t pairs = 4;
    uint64_t size = 2'000'000;
    std::string controller = "dcqcn";
    std::string tcp = "TcpCubic";
    std::string pcap;
    bool pfc = true;
    bool classes = true;
    CommandLine cmd(__FILE__);
    cmd.AddValue("pairs", "Hosts that send by RDMA, and as many by TCP", pairs);
    cmd.AddValue("size", "Bytes of each flow", size);
    cmd.AddValue("controller", "Congestion controller of RDMA's flows", controller);
    cmd.AddValue("tcp", "ns-3's congestion control of TCP: TcpCubic, TcpDctcp, ...", tcp);
    cmd.AddValue("pfc", "Whether switches pause their neighbours", pfc);
    cmd.AddValue("classes", "Whether TCP has a class of its own, without pauses", classes);
    cmd.AddValue("pcap", "Prefix of captures", pcap);
    cmd.Parse(argc, argv);

    // Requests of addresses wait up to 10 ms otherwise: RDMA would be done before TCP starts.
    Config::SetDefault("ns3::ArpL3Protocol::RequestJitter",
                       StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName("ns3::" + tcp)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    RdmaHelper rdma;
    rdma.SetController(controller);
    rdma.SetNetworkAttribute("Pfc", BooleanValue(pfc));
    rdma.SetNetworkAttribute("BufferBytes", UintegerValue(2 << 20));
    if (classes)
    {
        const std::string ecn =
            R"({"kmin_bytes": 100e3, "kmax_bytes": 400e3, "pmax": 0.2, "at_rate_bps": 25e9})";
        const std::string first = R"({"name": "rdma", "weight": 1, "ecn": )" + ecn + R"(, "pfc": )";
        const std::string step =
            R"({"kmin_bytes": 30e3, "kmax_bytes": 30e3, "pmax": 1, "at_rate_bps": 25e9})";
        const std::string second =
            R"({"name": "tcp", "weight": 1, "ecn": )" + step + R"(, "pfc": false})";
        rdma.SetNetworkAttribute("Settings",
                                 StringValue(R"({"classes": [)" + first + (pfc ? "true" : "false") +
                                             "}, " + second + "]}"));
        rdma.SetNetworkAttribute("OtherClass", UintegerValue(1));
    }

    NodeContainer hosts(2 * pairs + 1);
    NodeContainer leaf(1);
    const NetDeviceContainer cards = rdma.Install(hosts, leaf.Get(0));
    InternetStackHelper internet;
    internet.Install(hosts);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(cards);

    const Ptr<Node> receiver = hosts.Get(2 * pairs);
    const InetSocketAddress server(interfaces.GetAddress(2 * pairs), 80);
    PacketSinkHelper sink("ns3::TcpSocketFactory", server);
    ApplicationContainer sinks = sink.Install(receiver);
    BulkSendHelper source("ns3::TcpSocketFactory", server);
    source.SetAttribute("MaxBytes", UintegerValue(size));
    ApplicationContainer flows;
    for (uint32_t i = 0; i < pairs; ++i)
    {
        flows.Add(rdma.AddFlow(hosts.Get(i), receiver, size));
        source.Install(hosts.Get(pairs + i));
    }
    if (!pcap.empty())
    {
        rdma.EnablePcap(pcap, RdmaHelper::CardOf(receiver));
    }
    FlowMonitorHelper monitors;
    const Ptr<FlowMonitor> monitor = monitors.Install(hosts);

    Simulator::Stop(MilliSeconds(500));
    Simulator::Run();
    for (uint32_t i = 0; i < flows.GetN(); ++i)
    {
        const auto flow = DynamicCast<RdmaApplication>(flows.Get(i));
        std::cout << "rdma " << i << ": " << flow->GetCompletionTime().GetMicroSeconds() << " us\n";
    }
    std::cout << "tcp: " << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx()
              << " bytes received\n";
    for (const auto& [id, seen] : monitor->GetFlowStats())
    {
        const Time taken = seen.timeLastRxPacket - seen.timeFirstTxPacket;
        std::cout << "tcp flow " << id << ": " << seen.rxBytes << " B in "
                  << taken.GetMicroSeconds() << " us, " << seen.txPackets - seen.rxPackets
                  << " packets lost\n";
    }
    std::cout << "pauses: " << rdma.GetNetwork()->GetNPauseFrames()
              << ", drops: " << rdma.GetNetwork()->GetNDrops() << "\n";
    Simulator::Destroy();
    return 0;
}
