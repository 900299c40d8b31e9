// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts, switches and links of a scenario on ns-3's internet stack.
#include "fabric.h"

#include "congestion-ops.h"
#include "queue-factory.h"
#include "tcp-path.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/error-model.h"
#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/object-factory.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/traffic-control-layer.h"
#include "ns3_env/cpp/engine/event-loop.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/tcp/controllers/steered.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace ns3::env::tcp
{

namespace
{

constexpr int64_t FIRST_STREAM = 1;

} // namespace

Fabric::Fabric(const Scenario& scenario, const TcpSettings& settings)
    : m_scenario(scenario),
      m_settings(settings),
      m_paths(std::make_shared<const Routing>(scenario)),
      m_maxBaseRtt(LargestBaseRtt(*m_paths, settings)),
      m_streams(FIRST_STREAM)
{
    CheckSettings();
    RngSeedManager::SetRun(m_scenario.seed); // an episode's seed is the run number
    EventLoop::FitGrain(m_settings.segmentBytes, m_scenario.FastestBps());
    BuildNodes();
    for (const LinkSpec& link : m_scenario.links)
    {
        Heartbeat::Beat();
        BuildLink(link);
    }
    std::stable_sort(m_egresses.begin(),
                     m_egresses.end(),
                     [](const Egress& a, const Egress& b) { return a.node < b.node; });
    if (m_scenario.recordQueues)
    {
        RecordQueues();
    }
}

void
Fabric::CheckSettings() const
{
    const auto check = [](bool good, const std::string& key, const std::string& what)
    {
        if (!good)
        {
            throw ScenarioError(key, what);
        }
    };
    check(m_settings.segmentBytes >= 1 && m_settings.segmentBytes <= bounds::PAYLOAD_BYTES,
          "payload_bytes",
          "a segment of " + std::to_string(m_settings.segmentBytes) + " bytes: from 1 to " +
              std::to_string(bounds::PAYLOAD_BYTES));
    check(m_settings.initialWindowSegments >= 1,
          "tcp.initial_window_packets",
          "an initial window of 0 segments: at least 1");
    check(m_settings.segmentsPerAck >= 1,
          "tcp.packets_per_ack",
          "an ACK for 0 segments: for 1, or for more of them");
    check(m_settings.minRto > 0 && m_settings.initialRto > 0 && m_settings.delayedAckTimeout > 0,
          "tcp",
          "a timeout of 0: timeouts are longer");
    check(m_settings.segmentsPerAck == 1 || m_settings.delayedAckTimeout < m_settings.minRto,
          "tcp.min_rto_ns",
          "ACKs are delayed by up to " + std::to_string(m_settings.delayedAckTimeout / PS_PER_NS) +
              " ns and the least RTO is " + std::to_string(m_settings.minRto / PS_PER_NS) +
              " ns: a window of one segment would time out each time; the RTO has to be longer");
    check(m_settings.socketBufferBytes >=
              bounds::LEAST_SOCKET_BUFFER_SEGMENTS * m_settings.segmentBytes,
          "tcp.socket_buffer_bytes",
          "a socket's buffer of " + std::to_string(m_settings.socketBufferBytes) +
              " bytes: at least " + std::to_string(bounds::LEAST_SOCKET_BUFFER_SEGMENTS) +
              " segments");
}

void
Fabric::BuildNodes()
{
    for (uint32_t id = 0; id < m_scenario.isSwitch.size(); ++id)
    {
        Heartbeat::Beat();
        const bool isSwitch = m_scenario.isSwitch[id];
        auto node = CreateObject<Node>();
        auto ip = CreateObject<Ipv4L3Protocol>();
        auto routing = CreateObject<EcmpRouting>(id, isSwitch, m_paths);
        node->AggregateObject(CreateObject<TrafficControlLayer>());
        node->AggregateObject(ip);
        node->AggregateObject(CreateObject<Icmpv4L4Protocol>());
        ip->SetRoutingProtocol(routing);
        if (!isSwitch)
        {
            node->AggregateObject(CreateObject<TcpL4Protocol>());
        }
        m_nodes.push_back(node);
        m_routings.push_back(routing);
    }
}

Ptr<PointToPointNetDevice>
Fabric::AddDevice(uint32_t node, double rateBps)
{
    auto device = CreateObject<PointToPointNetDevice>();
    auto slot = CreateObjectWithAttributes<DropTailQueue<Packet>>("MaxSize",
                                                                  QueueSizeValue(QueueSize("1p")));
    device->SetAddress(Mac48Address::Allocate());
    device->SetDataRate(DataRate(static_cast<uint64_t>(std::llround(rateBps))));
    // No packet is ever cut in two.
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
        ip->AddAddress(interface,
                       Ipv4InterfaceAddress(Ipv4Address(NodeAddress(node)), Ipv4Mask::GetOnes()));
    }
    ip->SetUp(interface);
    return device;
}

Ptr<QueueDisc>
Fabric::AddQueue(uint32_t node, Ptr<PointToPointNetDevice> device, const LinkSpec& link)
{
    const double bdpBits = static_cast<double>(m_maxBaseRtt) / PS_PER_SECOND * link.rateBps;
    const EgressFacts facts{link.rateBps,
                            link.delay,
                            bdpBits / 8,
                            m_settings.segmentBytes + HEADER_BYTES,
                            m_streams++};
    const std::optional<QueueSettings> settings =
        m_scenario.isSwitch[node] ? m_settings.queue : m_settings.hostQueue;
    const Ptr<QueueDisc> queue =
        settings ? Within(m_scenario.isSwitch[node] ? "tcp.queue" : "tcp.host_queue",
                          [&] { return MakeQueue(*settings, facts); })
                 : MakeEndlessQueue();
    m_nodes[node]->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, queue);
    return queue;
}

void
Fabric::AddLoss(Ptr<PointToPointNetDevice> device)
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

void
Fabric::BuildLink(const LinkSpec& link)
{
    auto channel = CreateObject<PointToPointChannel>();
    channel->SetAttribute("Delay", TimeValue(TimeStep(static_cast<uint64_t>(link.delay))));
    for (auto [node, peer] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
    {
        auto device = AddDevice(node, link.rateBps);
        const uint32_t port = m_routings[node]->AddLink(device);
        device->Attach(channel);
        auto queue = AddQueue(node, device, link);
        auto meter = EgressMeter::At(device, queue);
        m_egresses.push_back({node, port, peer, link.rateBps, device, queue, meter});
        AddLoss(device);
    }
    if (m_scenario.lossProbability > 0)
    {
        const Egress& there = m_egresses[m_egresses.size() - 2];
        const Egress& back = m_egresses.back();
        EgressMeter::ChargeLossesAt(*back.device, there.meter);
        EgressMeter::ChargeLossesAt(*there.device, back.meter);
    }
}

void
Fabric::RecordQueues()
{
    const Picos origin = m_scenario.CountedFrom();
    for (const Egress& egress : m_egresses)
    {
        if (m_scenario.isSwitch[egress.node])
        {
            EgressMeter::RecordQueue(egress.meter, origin);
        }
    }
}

const Egress&
Fabric::EgressTo(uint32_t node, uint32_t peer) const
{
    const auto egress =
        std::find_if(m_egresses.begin(),
                     m_egresses.end(),
                     [&](const Egress& e) { return e.node == node && e.peer == peer; });
    NS_ABORT_MSG_IF(egress == m_egresses.end(), "no link from " << node << " to " << peer);
    return *egress;
}

std::unique_ptr<TcpFlow>
Fabric::Connect(const FlowSpec& spec, uint16_t sourcePort, const ControllerSpec& controller)
{
    const FiveTuple tuple = TupleOf(spec, sourcePort);
    const TcpPath path(*m_paths, spec, tuple, m_settings);
    const Ptr<TcpCongestionOps> sends = CreateCongestionOps(controller);
    const SocketPair sockets{FlowSocket::Make(m_nodes[spec.source],
                                              m_settings,
                                              sends,
                                              path.Forward().front().second->rateBps),
                             FlowSocket::Make(m_nodes[spec.destination],
                                              m_settings,
                                              CreateCongestionOps(controller),
                                              path.Backward().front().second->rateBps)};
    auto flow = std::make_unique<TcpFlow>(spec, tuple, path.Facts(m_maxBaseRtt), sockets);
    if (!spec.IsEndless())
    {
        flow->SetStandalone(path.Standalone(spec.sizeBytes));
    }
    if (IsSteered(controller))
    {
        flow->SetController(CreateController(controller), dynamic_cast<Steered&>(*sends));
    }
    flow->SetGoneCallback([this](const TcpFlow& gone) { Forget(gone); });
    return flow;
}

void
Fabric::Forget(const TcpFlow& flow)
{
    const FlowSpec& spec = flow.Spec();
    for (const auto& [node, link] : m_paths->Path(spec.source, spec.destination, flow.Tuple()))
    {
        m_routings[node]->Forget(flow.Tuple());
    }
    const FiveTuple back = flow.Tuple().Reversed();
    for (const auto& [node, link] : m_paths->Path(spec.destination, spec.source, back))
    {
        m_routings[node]->Forget(back);
    }
}

uint64_t
Fabric::DeliveredPayload() const
{
    uint64_t bytes = 0;
    for (const auto& routing : m_routings)
    {
        bytes += routing->DeliveredPayload();
    }
    return bytes;
}

uint64_t
Fabric::DroppedPayload() const
{
    uint64_t bytes = 0;
    for (const LossRecord& record : LossRecords())
    {
        bytes += record.lost.payloadBytes;
    }
    return bytes;
}

std::vector<LossRecord>
Fabric::LossRecords() const
{
    std::vector<LossRecord> records;
    for (const Egress& egress : m_egresses)
    {
        Heartbeat::Beat();
        AddLosses(records, egress.node, egress.port, egress.peer, egress.meter->Lost());
    }
    return records;
}

uint64_t
Fabric::LostOf(const FiveTuple& stream) const
{
    uint64_t bytes = 0;
    for (const Egress& egress : m_egresses)
    {
        bytes += egress.meter->LostOf(stream);
    }
    return bytes;
}

void
Fabric::FinishQueues(Picos end)
{
    for (const Egress& egress : m_egresses)
    {
        egress.meter->Finish(end);
    }
}

} // namespace ns3::env::tcp
