// SPDX-License-Identifier: GPL-2.0-or-later
// ns-3's TCP as its own examples use it, timed: bulk transfers through one link.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <ctime>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1460;
constexpr uint16_t PORT = 9;

/// The first node is the left switch, the second the right one, the third the receiver.
NodeContainer
Build(const std::string& rate, uint32_t senders)
{
    NodeContainer nodes(3 + senders);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue("5us"));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const auto connect = [&](uint32_t a, uint32_t b)
    {
        addresses.Assign(link.Install(nodes.Get(a), nodes.Get(b)));
        addresses.NewNetwork();
    };
    connect(1, 2);
    connect(0, 1);
    for (uint32_t i = 0; i < senders; ++i)
    {
        connect(3 + i, 0);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return nodes;
}

} // namespace

int
main(int argc, char** argv)
{
    std::string ops = "TcpCubic";
    std::string rate = "10Gbps";
    uint64_t bytes = 20'000'000;
    uint32_t senders = 4;
    CommandLine cmd(__FILE__);
    cmd.AddValue("controller", "ns-3's congestion control", ops);
    cmd.AddValue("rate", "Of each link", rate);
    cmd.AddValue("bytes", "Of each transfer", bytes);
    cmd.AddValue("senders", "Each with one transfer", senders);
    cmd.Parse(argc, argv);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + ops));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4U << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4U << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(16 * SEGMENT));

    const NodeContainer nodes = Build(rate, senders);
    const Ipv4Address receiver = nodes.Get(2)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(receiver, PORT));
    const ApplicationContainer sinks = sink.Install(nodes.Get(2));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(receiver, PORT));
    bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
    for (uint32_t i = 0; i < senders; ++i)
    {
        bulk.Install(nodes.Get(3 + i));
    }
    Simulator::Stop(Seconds(10));
    const std::clock_t begin = std::clock();
    Simulator::Run();
    const double cpu = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const uint64_t received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    std::cout << "{\"packets\": " << received / SEGMENT << ", \"cpu_s\": " << cpu << "}\n";
    Simulator::Destroy();
    return received == senders * bytes ? 0 : 1;
}
