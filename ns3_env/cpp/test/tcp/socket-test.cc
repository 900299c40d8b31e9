// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of RTT-driven MPC and T-DCTCP in ns-3's own TCP, on a dumbbell of sockets.
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/queue-disc.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ns3::env::tcp::test
{

struct Bottleneck
{
    DataRate rate{"100Mb/s"};
    Time delay{MilliSeconds(5)}; ///< one-way; hosts' links are ten times as fast and have none
    uint32_t bufferPackets{100};
    uint32_t markAtPackets{0}; ///< queue length from which packets are marked; 0: never
};

/// Measurements of a flow between two instants.
struct FlowSeen
{
    double goodputBps{0};
    double meanRttNs{0};
    double rttDeviationNs{0};
};

/// One endless flow per controller, each with a separate sender; segments of 1000 B.
class SocketPairs
{
  public:
    SocketPairs(const Bottleneck& bottleneck, const std::vector<ObjectFactory>& controllers);
    ~SocketPairs();

    /// Simulates until `from`, then until `to`, and reports on the time between.
    std::vector<FlowSeen> Run(Time from, Time to);

    /// Packets in the bottleneck's queue, on average over Run()'s second part.
    double MeanQueuePackets() const { return m_queueSum / m_queueSamples; }

  private:
    struct Flow
    {
        Ptr<Socket> sender;
        uint64_t receivedBytes{0};
        double rtts{0};
        double rttSum{0};
        double rttSquares{0};
    };

    void Fill(size_t flow);
    void Drain(size_t flow, Ptr<Socket> socket);
    void SampleQueue();

    std::vector<Flow> m_flows;
    std::vector<Ptr<Socket>> m_listeners;
    Ptr<QueueDisc> m_queue;
    double m_queueSum{0};
    double m_queueSamples{0};
};

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

namespace
{

SUITE("tcp-sockets");

/// Payload rate of a link of 100 Mb/s: 1000 of 1042 B, with 20 B of TCP, 20 of IP and 2 of PPP.
constexpr double PAYLOAD_BPS = 100e6 * 1000 / 1042;
constexpr double MS = 1e6; // nanoseconds

TEST("rttmpc alone fills the link and holds the RTT halfway up the queue")
{
    SocketPairs net({.bufferPackets = 120}, {ObjectFactory("tcp::rttmpc")});
    const FlowSeen seen = net.Run(Seconds(2), Seconds(4)).front();
    EXPECT_NEAR(seen.goodputBps / PAYLOAD_BPS, 1, 0.01, "goodput");
    // empty 10.1 ms, full 20.1 ms
    EXPECT_GT(seen.meanRttNs, 12 * MS, "a queue stands");
    EXPECT_LT(seen.meanRttNs, 18 * MS, "it is not full");
    EXPECT_LT(seen.rttDeviationNs, 1.5 * MS, "the RTT is smooth");
}

TEST("rttmpc loses packets in a small buffer and goes on")
{
    SocketPairs net(
        {.bufferPackets = 15},
        std::vector<ObjectFactory>(2, ObjectFactory("tcp::rttmpc", "ProbeRtts", DoubleValue(30))));
    const std::vector<FlowSeen> seen = net.Run(Seconds(2), Seconds(5));
    EXPECT_GT((seen[0].goodputBps + seen[1].goodputBps) / PAYLOAD_BPS, 0.75, "goodput");
    for (const FlowSeen& flow : seen)
    {
        EXPECT_GT(flow.goodputBps / PAYLOAD_BPS, 0.1, "a flow's part");
        // empty 10.1 ms, full 11.4 ms: the duration of a recovery is no RTT
        EXPECT_LT(flow.meanRttNs, 12 * MS, "the RTT");
    }
}

TEST("rttmpc flows keep caps that fit the link, without a queue")
{
    const double caps[] = {20e6, 50e6, 0.5e6}; // the last: less than a packet per RTT
    std::vector<ObjectFactory> controllers;
    for (double bps : caps)
    {
        controllers.emplace_back("tcp::rttmpc",
                                 "InitialRate",
                                 DataRateValue(DataRate(static_cast<uint64_t>(bps / 2))),
                                 "MinRate",
                                 DataRateValue(DataRate("100kb/s")),
                                 "MaxRate",
                                 DataRateValue(DataRate(static_cast<uint64_t>(bps))));
    }
    SocketPairs net({.bufferPackets = 120}, controllers);
    const std::vector<FlowSeen> seen = net.Run(Seconds(1), Seconds(3));
    for (size_t i = 0; i < seen.size(); ++i)
    {
        EXPECT_NEAR(seen[i].goodputBps / caps[i], 1, 0.02, "flow " << i);
    }
    EXPECT_LT(net.MeanQueuePackets(), 2, "the queue");
}

TEST("tdctcp below T_low grows until marks cut it, near the threshold")
{
    SocketPairs net({.delay = MicroSeconds(200), .bufferPackets = 400, .markAtPackets = 20},
                    std::vector<ObjectFactory>(2, ObjectFactory("tcp::tdctcp")));
    const std::vector<FlowSeen> seen = net.Run(Seconds(1), Seconds(3));
    const double sum = seen[0].goodputBps + seen[1].goodputBps;
    EXPECT_GT(sum / PAYLOAD_BPS, 0.95, "goodput");
    EXPECT_LT(net.MeanQueuePackets(), 30, "the queue");
    EXPECT_GT(net.MeanQueuePackets(), 5, "which is not empty");
}

TEST("tdctcp above T_low needs no mark: a rising RTT holds the queue, the same bits "
     "each time")
{
    double goodputBps[2] = {};
    for (double& bps : goodputBps)
    {
        SocketPairs net({.bufferPackets = 1200}, {ObjectFactory("tcp::tdctcp")});
        bps = net.Run(Seconds(1), Seconds(2)).front().goodputBps;
        EXPECT_GT(bps / PAYLOAD_BPS, 0.95, "goodput");
        EXPECT_LT(net.MeanQueuePackets(), 100, "the queue");
    }
    EXPECT_EQ(goodputBps[0], goodputBps[1], "again");
}

} // namespace

} // namespace ns3::env::tcp::test
