// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario's TCP flows on ns-3's own stack: sockets, IP, queue discs and devices, to compare with.
#include "stock-network.h"

#include "queue-factory.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/error-model.h"
#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/traffic-control-layer.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/network/tcp-path.h"
#include "ns3_env/cpp/tcp/socket/congestion-ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace ns3::env::tcp::stock
{

namespace
{

constexpr uint16_t FIRST_SOURCE_PORT = 10000;
constexpr uint32_t SEGMENTS_PER_WRITE = 16;

/// Nodes and links.
class Network
{
  public:
    Network(const Scenario& scenario, const TcpSettings& settings)
        : m_scenario(scenario),
          m_settings(settings),
          m_paths(std::make_shared<const Routing>(scenario)),
          m_maxBaseRtt(LargestBaseRtt(*m_paths, settings))
    {
        RngSeedManager::ResetNextStreamIndex();
        RngSeedManager::SetRun(scenario.seed);
        for (uint32_t id = 0; id < scenario.isSwitch.size(); ++id)
        {
            AddNode(id);
        }
        for (const LinkSpec& link : scenario.links)
        {
            AddLink(link);
        }
    }

    const Routing& Paths() const { return *m_paths; }
    Ptr<Node> NodeAt(uint32_t node) const { return m_nodes[node]; }

    void Describe(std::ostream& text) const
    {
        for (const auto& port : m_ports)
        {
            text << port->sent << ' ' << port->bytes << ' ' << port->dropped << ' ' << port->lost
                 << '\n';
        }
    }

  private:
    struct PortCounts
    {
        uint32_t node;
        uint64_t sent{0};
        uint64_t bytes{0};
        uint64_t dropped{0};
        uint64_t lost{0};
    };

    void AddNode(uint32_t id)
    {
        auto node = CreateObject<Node>();
        auto ip = CreateObject<Ipv4L3Protocol>();
        auto routing = CreateObject<EcmpRouting>(id, m_scenario.isSwitch[id], m_paths);
        node->AggregateObject(CreateObject<TrafficControlLayer>());
        node->AggregateObject(ip);
        node->AggregateObject(CreateObject<Icmpv4L4Protocol>());
        ip->SetRoutingProtocol(routing);
        if (!m_scenario.isSwitch[id])
        {
            node->AggregateObject(CreateObject<TcpL4Protocol>());
        }
        m_nodes.push_back(node);
        m_routings.push_back(routing);
    }

    Ptr<PointToPointNetDevice> AddDevice(uint32_t node, double rateBps)
    {
        auto device = CreateObject<PointToPointNetDevice>();
        auto slot =
            CreateObjectWithAttributes<DropTailQueue<Packet>>("MaxSize",
                                                              QueueSizeValue(QueueSize("1p")));
        device->SetAddress(Mac48Address::Allocate());
        device->SetDataRate(DataRate(static_cast<uint64_t>(std::llround(rateBps))));
        device->SetMtu(
            static_cast<uint16_t>(m_settings.segmentBytes + HEADER_BYTES + MAX_OPTION_BYTES));
        device->SetQueue(slot);
        m_nodes[node]->AddDevice(device);
        auto flowControl = CreateObject<NetDeviceQueueInterface>();
        flowControl->GetTxQueue(0)->ConnectQueueTraces(slot);
        device->AggregateObject(flowControl);
        const auto ip = m_nodes[node]->GetObject<Ipv4>();
        const uint32_t interface = ip->AddInterface(device);
        if (!m_scenario.isSwitch[node])
        {
            ip->AddAddress(
                interface,
                Ipv4InterfaceAddress(Ipv4Address(NodeAddress(node)), Ipv4Mask::GetOnes()));
        }
        ip->SetUp(interface);
        return device;
    }

    Ptr<QueueDisc> AddQueue(uint32_t node, Ptr<PointToPointNetDevice> device, const LinkSpec& link)
    {
        const double bdpBits = static_cast<double>(m_maxBaseRtt) / PS_PER_SECOND * link.rateBps;
        const EgressFacts facts{link.rateBps,
                                link.delay,
                                bdpBits / 8,
                                m_settings.segmentBytes + HEADER_BYTES,
                                m_streams++};
        const auto settings = m_scenario.isSwitch[node] ? m_settings.queue : m_settings.hostQueue;
        Ptr<QueueDisc> queue = settings ? MakeDisc(*settings, facts) : MakeEndlessDisc();
        m_nodes[node]->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, queue);
        return queue;
    }

    void AddLoss(Ptr<PointToPointNetDevice> device)
    {
        if (m_scenario.lossProbability <= 0)
        {
            return;
        }
        if (!m_losses)
        {
            m_losses = CreateObject<UniformRandomVariable>();
            m_losses->SetStream(m_streams++);
        }
        auto loss = CreateObject<RateErrorModel>();
        loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        loss->SetRate(m_scenario.lossProbability);
        loss->SetRandomVariable(m_losses);
        device->SetReceiveErrorModel(loss);
    }

    void AddLink(const LinkSpec& link)
    {
        auto channel = CreateObject<PointToPointChannel>();
        channel->SetAttribute("Delay", TimeValue(TimeStep(static_cast<uint64_t>(link.delay))));
        for (const uint32_t node : {link.a, link.b})
        {
            auto device = AddDevice(node, link.rateBps);
            m_routings[node]->AddLink(device);
            device->Attach(channel);
            auto queue = AddQueue(node, device, link);
            AddLoss(device);
            auto port = std::make_shared<PortCounts>(PortCounts{.node = node});
            device->TraceConnectWithoutContext("PhyTxBegin",
                                               Callback<void, Ptr<const Packet>>(
                                                   [port](Ptr<const Packet> frame)
                                                   {
                                                       ++port->sent;
                                                       port->bytes += frame->GetSize();
                                                   }));
            queue->TraceConnectWithoutContext(
                "Drop",
                Callback<void, Ptr<const QueueDiscItem>>([port](Ptr<const QueueDiscItem>)
                                                         { ++port->dropped; }));
            m_ports.push_back(port);
            m_devices.push_back(device);
        }
        for (size_t i = m_ports.size() - 2; i < m_ports.size(); ++i)
        {
            const auto other = m_ports[i ^ 1U]; // a link's loss is one of the port before it
            m_devices[i]->TraceConnectWithoutContext(
                "PhyRxDrop",
                Callback<void, Ptr<const Packet>>([other](Ptr<const Packet>) { ++other->lost; }));
        }
    }

    const Scenario& m_scenario;
    const TcpSettings& m_settings;
    std::shared_ptr<const Routing> m_paths;
    Picos m_maxBaseRtt;
    std::vector<Ptr<Node>> m_nodes;
    std::vector<Ptr<EcmpRouting>> m_routings;
    std::vector<Ptr<PointToPointNetDevice>> m_devices;
    std::vector<std::shared_ptr<PortCounts>> m_ports;
    Ptr<RandomVariableStream> m_losses;
    int64_t m_streams{1};
};

/// One message, as TcpFlow sends it.
class Message
{
  public:
    Message(const Network& network,
            const FlowSpec& spec,
            const TcpSettings& settings,
            const ControllerSpec& controller,
            std::function<void()> done)
        : m_spec(spec),
          m_tuple(TupleOf(spec, static_cast<uint16_t>(FIRST_SOURCE_PORT + spec.id))),
          m_segmentBytes(settings.segmentBytes)
    {
        const TcpPath path(network.Paths(), spec, m_tuple, settings);
        const auto make = [&](uint32_t node, const Hops& way)
        {
            return FlowSocket::Make(network.NodeAt(node),
                                    settings,
                                    CreateCongestionOps(controller),
                                    way.front().second->rateBps);
        };
        m_sender = make(spec.source, path.Forward());
        m_receiver = make(spec.destination, path.Backward());
        m_receiver->SetLastByte(spec.sizeBytes);
        m_receiver->SetRecvCallback(Callback<void, Ptr<Socket>>(
            [](Ptr<Socket> socket) { socket->Recv(std::numeric_limits<uint32_t>::max(), 0); }));
        m_sender->SetSendCallback(
            Callback<void, Ptr<Socket>, uint32_t>([this](Ptr<Socket>, uint32_t) { Fill(); }));
        m_sender->SetAcknowledgedCallback(
            [this, done]
            {
                if (m_end < 0 && m_sender->AcknowledgedBytes() >= m_spec.sizeBytes)
                {
                    m_end = NowPicos();
                    done();
                }
            });
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(spec.start)),
                            [this]
                            {
                                m_receiver->Await(m_tuple);
                                m_sender->Dial(m_tuple);
                                Fill();
                            });
    }

    ~Message()
    {
        m_sender->Release();
        m_receiver->Release();
    }

    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    void Describe(std::ostream& text) const
    {
        stock::Describe(text, m_end, m_sender->Counts(), m_sender->Rtts());
    }

  private:
    void Fill()
    {
        const uint64_t most = uint64_t{SEGMENTS_PER_WRITE} * m_segmentBytes;
        while (m_written < m_spec.sizeBytes)
        {
            const auto bytes =
                static_cast<uint32_t>(std::min<uint64_t>(m_spec.sizeBytes - m_written, most));
            if (m_sender->GetTxAvailable() < bytes)
            {
                return;
            }
            m_written += bytes;
            m_sender->Send(Create<Packet>(bytes), 0);
        }
    }

    FlowSpec m_spec;
    FiveTuple m_tuple;
    uint32_t m_segmentBytes;
    Ptr<FlowSocket> m_sender;
    Ptr<FlowSocket> m_receiver;
    uint64_t m_written{0};
    Picos m_end{-1};
};

} // namespace

void
Describe(std::ostream& text, Picos end, const SenderCounts& counts, const RttSamples& rtts)
{
    text << end << ' ' << counts.sentBytes << ' ' << counts.retransmittedBytes << ' '
         << counts.acknowledgedBytes << ' ' << counts.packets << ' ' << counts.timeouts << ' '
         << rtts.Count() << ' ' << rtts.First() << ' ' << rtts.Last() << ' ' << rtts.Max() << ' '
         << std::hexfloat << rtts.Mean() << std::defaultfloat << '\n';
}

std::string
Play(const Scenario& scenario, const TcpSettings& settings, const ControllerSpec& spec)
{
    std::ostringstream text;
    {
        const Network network(scenario, settings);
        size_t unfinished = scenario.flows.size();
        std::vector<std::unique_ptr<Message>> messages;
        for (const FlowEntry& entry : scenario.flows)
        {
            messages.push_back(std::make_unique<Message>(network,
                                                         entry.flow,
                                                         settings,
                                                         spec,
                                                         [&unfinished]
                                                         {
                                                             if (--unfinished == 0)
                                                             {
                                                                 Simulator::Stop();
                                                             }
                                                         }));
        }
        Simulator::Stop(TimeStep(static_cast<uint64_t>(scenario.timeLimit)));
        Simulator::Run();
        for (const auto& message : messages)
        {
            message->Describe(text);
        }
        network.Describe(text);
    }
    Simulator::Destroy();
    return text.str();
}

} // namespace ns3::env::tcp::stock
