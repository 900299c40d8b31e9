// SPDX-License-Identifier: GPL-2.0-or-later
// Bottleneck for TCP sockets: senders, a router with a queue disc, a receiver, and what was seen.
#include "socket-pair.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::tcp::test
{

namespace
{

constexpr uint32_t SEGMENT_BYTES = 1000;
constexpr uint16_t PORT = 5000;

Ptr<TcpSocketBase>
MakeSocket(Ptr<Node> node, const ObjectFactory& controller)
{
    auto socket =
        DynamicCast<TcpSocketBase>(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()));
    socket->SetAttribute("SegmentSize", UintegerValue(SEGMENT_BYTES));
    socket->SetAttribute("SndBufSize", UintegerValue(8'000'000));
    socket->SetAttribute("RcvBufSize", UintegerValue(8'000'000));
    socket->SetAttribute("Timestamp", BooleanValue(false)); // milliseconds
    socket->SetAttribute("DelAckCount", UintegerValue(1));
    socket->SetCongestionControlAlgorithm(controller.Create<TcpCongestionOps>());
    return socket;
}

} // namespace

SocketPairs::SocketPairs(const Bottleneck& bottleneck,
                         const std::vector<ObjectFactory>& controllers)
    : m_flows(controllers.size())
{
    const auto flows = static_cast<uint32_t>(controllers.size());
    NodeContainer senders(flows);
    NodeContainer router(1);
    NodeContainer receiver(1);
    InternetStackHelper internet;
    internet.Install(NodeContainer(senders, router, receiver));

    PointToPointHelper link;
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    link.SetDeviceAttribute("DataRate", DataRateValue(bottleneck.rate));
    link.SetChannelAttribute("Delay", TimeValue(bottleneck.delay));
    const NetDeviceContainer last = link.Install(router.Get(0), receiver.Get(0));

    // RED with both thresholds at one queue length and no average: a single marking threshold, as DCTCP has it.
    const uint32_t markAt =
        bottleneck.markAtPackets > 0 ? bottleneck.markAtPackets : bottleneck.bufferPackets;
    TrafficControlHelper queue;
    queue.SetRootQueueDisc(
        "ns3::RedQueueDisc",
        "MaxSize",
        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, bottleneck.bufferPackets)),
        "MinTh",
        DoubleValue(markAt),
        "MaxTh",
        DoubleValue(markAt),
        "LInterm",
        DoubleValue(1),
        "QW",
        DoubleValue(1),
        "UseEcn",
        BooleanValue(bottleneck.markAtPackets > 0),
        "UseHardDrop",
        BooleanValue(bottleneck.markAtPackets == 0),
        "LinkBandwidth",
        DataRateValue(bottleneck.rate),
        "LinkDelay",
        TimeValue(bottleneck.delay));
    m_queue = queue.Install(last.Get(0)).Get(0);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer ends = addresses.Assign(last);
    PointToPointHelper host;
    host.SetDeviceAttribute("DataRate", DataRateValue(DataRate(10 * bottleneck.rate.GetBitRate())));
    host.SetChannelAttribute("Delay", TimeValue(Time(0)));
    for (uint32_t i = 0; i < flows; ++i)
    {
        addresses.NewNetwork();
        addresses.Assign(host.Install(senders.Get(i), router.Get(0)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    for (uint32_t i = 0; i < flows; ++i)
    {
        const auto port = static_cast<uint16_t>(PORT + i);
        Ptr<TcpSocketBase> listener = MakeSocket(receiver.Get(0), controllers[i]);
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    Callback<void, Ptr<Socket>, const Address&>(
                                        [this, i](Ptr<Socket> socket, const Address&)
                                        {
                                            socket->SetRecvCallback(Callback<void, Ptr<Socket>>(
                                                [this, i](Ptr<Socket> from) { Drain(i, from); }));
                                        }));
        m_listeners.push_back(listener);

        Ptr<TcpSocketBase> sender = MakeSocket(senders.Get(i), controllers[i]);
        m_flows[i].sender = sender;
        sender->TraceConnectWithoutContext("LastRTT",
                                           Callback<void, Time, Time>(
                                               [this, i](Time, Time rtt)
                                               {
                                                   const auto ns =
                                                       static_cast<double>(rtt.GetNanoSeconds());
                                                   m_flows[i].rtts += 1;
                                                   m_flows[i].rttSum += ns;
                                                   m_flows[i].rttSquares += ns * ns;
                                               }));
        sender->SetConnectCallback(Callback<void, Ptr<Socket>>([this, i](Ptr<Socket>) { Fill(i); }),
                                   MakeNullCallback<void, Ptr<Socket>>());
        sender->SetSendCallback(
            Callback<void, Ptr<Socket>, uint32_t>([this, i](Ptr<Socket>, uint32_t) { Fill(i); }));
        const InetSocketAddress to(ends.GetAddress(1), port);
        Simulator::Schedule(MilliSeconds(i), [sender, to] { sender->Connect(to); });
    }
}

SocketPairs::~SocketPairs()
{
    Simulator::Destroy();
}

void
SocketPairs::Fill(size_t flow)
{
    Socket& socket = *m_flows[flow].sender;
    while (socket.GetTxAvailable() >= SEGMENT_BYTES)
    {
        if (socket.Send(Create<Packet>(SEGMENT_BYTES)) <= 0)
        {
            return;
        }
    }
}

void
SocketPairs::Drain(size_t flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        m_flows[flow].receivedBytes += packet->GetSize();
    }
}

void
SocketPairs::SampleQueue()
{
    m_queueSum += m_queue->GetNPackets();
    m_queueSamples += 1;
    Simulator::Schedule(MicroSeconds(100), &SocketPairs::SampleQueue, this);
}

std::vector<FlowSeen>
SocketPairs::Run(Time from, Time to)
{
    std::vector<Flow> before;
    Simulator::Schedule(from,
                        [&]
                        {
                            before = m_flows;
                            SampleQueue();
                        });
    Simulator::Stop(to);
    Simulator::Run();
    std::vector<FlowSeen> seen;
    for (size_t i = 0; i < m_flows.size(); ++i)
    {
        const double rtts = m_flows[i].rtts - before[i].rtts;
        const double mean = (m_flows[i].rttSum - before[i].rttSum) / rtts;
        const double squares = (m_flows[i].rttSquares - before[i].rttSquares) / rtts;
        seen.push_back(
            {.goodputBps = 8.0 *
                           static_cast<double>(m_flows[i].receivedBytes - before[i].receivedBytes) /
                           (to - from).GetSeconds(),
             .meanRttNs = mean,
             .rttDeviationNs = std::sqrt(std::max(0.0, squares - mean * mean))});
    }
    return seen;
}

} // namespace ns3::env::tcp::test
