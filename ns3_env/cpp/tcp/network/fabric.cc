// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts, switches and links of a scenario for TCP.
#include "fabric.h"

#include "queue.h"
#include "tcp-path.h"

#include "ns3/double.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/tcp/controllers/steered.h"
#include "ns3_env/cpp/tcp/socket/congestion-ops.h"

#include <algorithm>
#include <optional>
#include <string>

namespace ns3::env::tcp
{

namespace
{

constexpr int64_t FIRST_STREAM = 1;

/// Node with this address (NodeAddress).
uint32_t
NodeOf(uint32_t address)
{
    return (address - NodeAddress(0)) >> 8;
}

} // namespace

Fabric::Fabric(const Scenario& scenario, const TcpSettings& settings)
    : m_scenario(scenario),
      m_settings(settings),
      m_paths(std::make_shared<const Routing>(scenario)),
      m_maxBaseRtt(LargestBaseRtt(*m_paths, settings)),
      m_streams(FIRST_STREAM),
      m_ofControllers(scenario.seed)
{
    CheckSettings();
    RngSeedManager::SetRun(m_scenario.seed); // an episode's seed is the run number
    EventLoop::FitGrain(m_settings.segmentBytes, m_scenario.FastestBps(), m_scenario.links.size());
    m_network =
        std::make_unique<Network>([this](const FiveTuple& tuple) { return PortsOn(tuple); });
    m_ports.resize(m_scenario.isSwitch.size());
    for (const LinkSpec& link : m_scenario.links)
    {
        Heartbeat::Beat();
        BuildLink(link);
    }
    MakeAckNoise();
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
    check(!m_settings.ackNoise || (m_settings.ackNoise->meanRtts > 0 &&
                                   m_settings.ackNoise->mostRtts >= m_settings.ackNoise->meanRtts),
          "tcp.ack_noise",
          "a mean time that is 0 or above the longest: from above 0 up to most_rtts");
    check(m_settings.socketBufferBytes >=
              bounds::LEAST_SOCKET_BUFFER_SEGMENTS * m_settings.segmentBytes,
          "tcp.socket_buffer_bytes",
          "a socket's buffer of " + std::to_string(m_settings.socketBufferBytes) +
              " bytes: at least " + std::to_string(bounds::LEAST_SOCKET_BUFFER_SEGMENTS) +
              " segments");
}

std::unique_ptr<PacketQueue>
Fabric::MakeQueueAt(uint32_t node, const LinkSpec& link)
{
    const double bdpBits = static_cast<double>(m_maxBaseRtt) / PS_PER_SECOND * link.rateBps;
    const EgressFacts facts{link.rateBps,
                            link.delay,
                            bdpBits / 8,
                            m_settings.segmentBytes + HEADER_BYTES,
                            m_streams++};
    const std::optional<QueueSettings> settings =
        m_scenario.isSwitch[node] ? m_settings.queue : m_settings.hostQueue;
    return settings ? Within(m_scenario.isSwitch[node] ? "tcp.queue" : "tcp.host_queue",
                             [&] { return MakeQueue(*settings, facts); })
                    : MakeEndlessQueue();
}

/// Makes the losses of one link in one direction; null if nothing is lost.
Ptr<RateErrorModel>
Fabric::MakeLoss()
{
    if (m_scenario.lossProbability <= 0)
    {
        return nullptr;
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
    return loss;
}

std::shared_ptr<Port>
Fabric::MakePort(uint32_t node, const LinkSpec& link)
{
    auto queue = MakeQueueAt(node, link);
    Port::Link ends{link.rateBps, link.delay, MakeLoss()};
    const uint32_t peer = node == link.a ? link.b : link.a;
    if (const LinkSchedule* own = m_scenario.ScheduleOf(node, peer))
    {
        ends.schedule = *own;
    }
    return std::make_shared<Port>(*m_network, node, std::move(queue), ends);
}

void
Fabric::BuildLink(const LinkSpec& link)
{
    for (auto [node, peer] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
    {
        const auto port = static_cast<uint32_t>(m_ports[node].size());
        auto egress = MakePort(node, link);
        m_ports[node].push_back(egress.get());
        m_egresses.push_back({node, port, peer, link.rateBps, std::move(egress)});
    }
}

void
Fabric::MakeAckNoise()
{
    if (!m_settings.ackNoise)
    {
        return;
    }
    m_ackNoise = CreateObject<ExponentialRandomVariable>();
    m_ackNoise->SetAttribute("Mean", DoubleValue(m_settings.ackNoise->meanRtts));
    m_ackNoise->SetAttribute("Bound", DoubleValue(m_settings.ackNoise->mostRtts));
    m_ackNoise->SetStream(m_streams++);
}

std::vector<Port*>
Fabric::PortsOn(const FiveTuple& tuple) const
{
    std::vector<Port*> ports;
    for (const auto& [node, link] :
         m_paths->Path(NodeOf(tuple.sourceIp), NodeOf(tuple.destinationIp), tuple))
    {
        ports.push_back(m_ports[node][link->port]);
    }
    return ports;
}

void
Fabric::RecordQueues()
{
    for (const Egress& egress : m_egresses)
    {
        if (m_scenario.isSwitch[egress.node])
        {
            egress.egress->RecordQueue(m_scenario.CountedFrom());
        }
    }
}

uint32_t
Fabric::LongestPacket() const
{
    return m_settings.segmentBytes + HEADER_BYTES + MAX_OPTION_BYTES;
}

const Egress&
Fabric::EgressTo(uint32_t node, uint32_t peer) const
{
    const auto first = std::partition_point(m_egresses.begin(),
                                            m_egresses.end(),
                                            [&](const Egress& e) { return e.node < node; });
    const auto egress =
        std::find_if(first,
                     m_egresses.end(),
                     [&](const Egress& e) { return e.node != node || e.peer == peer; });
    NS_ABORT_MSG_IF(egress == m_egresses.end() || egress->node != node,
                    "no link from " << node << " to " << peer);
    return *egress;
}

std::unique_ptr<TcpFlow>
Fabric::Connect(const FlowSpec& spec, uint16_t sourcePort, const ControllerSpec& controller)
{
    const FiveTuple tuple = TupleOf(spec, sourcePort);
    const TcpPath path(*m_paths, spec, tuple, m_settings);
    const auto make = [this, &controller]
    { return m_ofControllers.Use([&controller] { return CreateCongestionOps(controller); }); };
    const Ptr<TcpCongestionOps> sends = make();
    EndpointPair ends{std::make_unique<Sender>(*m_network,
                                               m_settings,
                                               sends,
                                               path.Forward().front().second->rateBps,
                                               spec.source),
                      std::make_unique<Receiver>(*m_network,
                                                 m_settings,
                                                 make(),
                                                 path.Backward().front().second->rateBps,
                                                 spec.destination)};
    PathFacts facts = path.Facts(m_maxBaseRtt);
    if (m_ackNoise)
    {
        ends.receiver->DelayAcks(m_ackNoise, facts.baseRtt);
    }
    auto flow =
        std::make_unique<TcpFlow>(spec, *m_network, tuple, std::move(facts), std::move(ends));
    if (!spec.IsEndless())
    {
        flow->SetStandalone(path.Standalone(spec.sizeBytes));
    }
    if (IsSteered(controller))
    {
        flow->SetController(CreateController(controller), dynamic_cast<Steered&>(*sends));
    }
    return flow;
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
        AddLosses(records, egress.node, egress.port, egress.peer, egress.egress->Lost());
    }
    return records;
}

void
Fabric::FinishQueues(Picos end)
{
    for (const Egress& egress : m_egresses)
    {
        egress.egress->Finish(end);
    }
}

} // namespace ns3::env::tcp
