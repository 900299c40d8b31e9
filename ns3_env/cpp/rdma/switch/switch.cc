// SPDX-License-Identifier: GPL-2.0-or-later
// Switch with its ports: admission, PFC, queueing, ECN and telemetry at dequeue.
#include "switch.h"

#include "network-rules.h"

#include "ns3_env/cpp/engine/watched-trace.h"
#include "ns3_env/cpp/rdma/link/wire-flow.h"
#include "ns3_env/cpp/rdma/telemetry/utilisation-byte.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ns3::env::rdma
{

namespace
{

/// Share of the base interval, by |Fb| / 8: 150, 75, 50, 37.5, 30, 25, 21.5 and 18.5 kB of 150 (IEEE 802.1Q, 32.9.2).
constexpr std::array<double, 8>
    SHARE_OF_INTERVAL{1.0, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6, 21.5 / 150, 18.5 / 150};

/// Rounds to the values of a field of 16 bits in units of 64 B.
int32_t
InUnits(double bytes)
{
    const double units = std::round(bytes / QueueFeedback::UNIT_BYTES);
    return static_cast<int32_t>(std::clamp(units, -32768.0, 32767.0)) * QueueFeedback::UNIT_BYTES;
}

} // namespace

CongestionPoint::CongestionPoint(const CongestionPointConfig& config,
                                 uint32_t id,
                                 RandomSource& random)
    : m_config(config),
      m_id(id),
      m_random(&random),
      m_byProbability(config.sampleProbability > 0),
      m_untilSample(config.sampleBytes)
{
}

std::optional<QueueFeedback>
CongestionPoint::Look(uint64_t queueBytes)
{
    if (m_byProbability && m_random->Draw() >= m_config.sampleProbability)
    {
        return std::nullopt;
    }
    const QueueFeedback feedback = Sample(queueBytes);
    m_untilSample = Interval(feedback.quantised);
    if (m_config.negativeOnly && feedback.quantised == 0)
    {
        return std::nullopt;
    }
    return feedback;
}

QueueFeedback
CongestionPoint::Sample(uint64_t queueBytes)
{
    const double offset = static_cast<double>(queueBytes) - m_config.targetBytes;
    const double delta = static_cast<double>(queueBytes) - static_cast<double>(m_queueBefore);
    m_queueBefore = queueBytes;
    const double congestion = offset + m_config.weight * delta; // -Fb (Jiang 2015, eq. 1)
    const double range = m_config.targetBytes * (2 * m_config.weight + 1); // at which Fb is clipped
    const double level = QueueFeedback::MOST * std::clamp(congestion / range, 0.0, 1.0);
    return {.offsetBytes = InUnits(offset),
            .deltaBytes = InUnits(delta),
            .congestionPoint = m_id,
            .quantised = static_cast<uint8_t>(level)};
}

double
CongestionPoint::Interval(uint8_t quantised) const
{
    const double share = m_config.adaptiveSampling ? SHARE_OF_INTERVAL[quantised / 8] : 1.0;
    const double jitter =
        m_config.sampleJitter > 0 ? m_config.sampleJitter * (2 * m_random->Draw() - 1) : 0.0;
    return m_config.sampleBytes * share * (1 + jitter);
}

RecentFlows::RecentFlows(Picos timeout)
    : m_timeout(timeout)
{
}

void
RecentFlows::OnEnqueue(const Packet& packet, Picos now)
{
    if (packet.flow->IsOpenLoop())
    {
        return;
    }
    const uint32_t flow = packet.flow->Id();
    auto it = m_entries.find(flow);
    if (it == m_entries.end())
    {
        m_bySeen.push_front({flow, now});
        m_entries.emplace(flow, m_bySeen.begin());
        return;
    }
    it->second->seen = now;
    m_bySeen.splice(m_bySeen.begin(), m_bySeen, it->second);
}

uint32_t
RecentFlows::Count(Picos now)
{
    while (!m_bySeen.empty() && now - m_bySeen.back().seen > m_timeout)
    {
        m_entries.erase(m_bySeen.back().flow);
        m_bySeen.pop_back();
    }
    return static_cast<uint32_t>(m_bySeen.size());
}

namespace
{

/// A flow that has reported nothing for this number of base RTTs does not wait for this port.
constexpr Picos RTTS_UNTIL_SILENT = 4;

// Of quantised telemetry, in addition to TX_UNIT_BYTES.
constexpr uint32_t QUEUE_UNIT_BYTES = 80;

template <class Whole>
Whole
Quantise(Whole value, uint32_t unit)
{
    const bool powerOfTwo = (unit & (unit - 1)) == 0;
    return value - (powerOfTwo ? value & (unit - 1) : value % unit);
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(SwitchPort);
NS_OBJECT_ENSURE_REGISTERED(Switch);

TypeId
SwitchPort::GetTypeId()
{
    static TypeId tid = TypeId("rdma::SwitchPort")
                            .SetParent<Port>()
                            .SetGroupName("Rdma")
                            .AddTraceSource("QueueBytes",
                                            "Bytes in the egress queue after a change.",
                                            MakeWatchedTrace(&SwitchPort::m_queueTrace),
                                            "ns3::TracedValueCallback::Uint64")
                            .AddTraceSource("Mark",
                                            "A data packet was marked as it left the queue.",
                                            MakeWatchedTrace(&SwitchPort::m_markTrace),
                                            "ns3::env::rdma::Packet::TracedCallback");
    return tid;
}

SwitchPort::SwitchPort(NetworkContext& network, Switch& owner, uint32_t nodeId, uint32_t index)
    : Port(network, nodeId, index),
      m_switch(owner)
{
}

void
SwitchPort::Configure(std::unique_ptr<EcnMarker> marker, uint32_t telemetryUnit)
{
    m_marker = std::move(marker);
    m_mostUnmarked = m_marker->MostUnmarked();
    if (m_mostUnmarked < 0) // the marker is called for each
    {
        QueueAll();
    }
    m_telemetryUnit = telemetryUnit;
}

void
SwitchPort::SetThresholds(const MarkingThresholds& thresholds)
{
    m_marker->SetThresholds(thresholds);
    m_mostUnmarked = m_marker->MostUnmarked();
}

void
SwitchPort::CountRecentFlows(Picos timeout)
{
    m_recent = std::make_unique<RecentFlows>(timeout);
}

void
SwitchPort::EnableCongestionPoint(const CongestionPointConfig& config)
{
    // Nodes and a node's ports are numbered in 16 bits each.
    const uint32_t id = NodeId() << 16 | (Index() & 0xffff);
    m_congestionPoint = std::make_unique<CongestionPoint>(config, id, Random());
    QueueAll(); // it is called for each
}

inline void
SwitchPort::Enqueue(Packet* packet, Picos now)
{
    if (packet->kind == PacketKind::Data)
    {
        CountFlow(*packet, now);
    }
    m_queueBytes += packet->wireBytes;
    m_queue.Push(packet);
    if (m_stats)
    {
        m_stats->Update(m_queueBytes, now);
    }
    if (IsTraced()) [[unlikely]]
    {
        m_queueTrace(m_queueBytes);
    }
    if (m_congestionPoint && packet->kind == PacketKind::Data)
    {
        Sample(*packet, *m_congestionPoint, m_queueBytes);
    }
    Kick();
}

inline bool
SwitchPort::IsOpen(Picos now)
{
    return IsFree(now) && m_queue.IsEmpty();
}

inline void
SwitchPort::PassOn(Packet* packet, Picos now)
{
    if (packet->kind == PacketKind::Data)
    {
        CountFlow(*packet, now);
    }
    WriteOnLeaving(*packet, 0, now); // a queue of zero duration does not count in its statistics
    SendAtOnce(packet, now);
}

void
SwitchPort::Sample(const Packet& packet, CongestionPoint& point, uint64_t queueBytes)
{
    if (const auto feedback = point.OnArrival(packet.wireBytes, queueBytes))
    {
        Notify(packet, *feedback);
    }
}

inline void
SwitchPort::CountFlow(const Packet& packet, Picos now)
{
    if (m_recent) [[unlikely]]
    {
        m_recent->OnEnqueue(packet, now);
        return;
    }
    m_flows += packet.flow->MarkCounted(packet.hop) ? 1 : 0;
}

void
SwitchPort::Notify(const Packet& packet, const QueueFeedback& feedback)
{
    Packet* frame = m_network.pool.Allocate();
    frame->flow = packet.flow;
    frame->kind = PacketKind::Notification;
    frame->sentAt = packet.sentAt;
    frame->sequence = packet.sequence; // of the packet that it is about
    frame->payloadBytes = 0;
    frame->wireBytes = NOTIFICATION_BYTES;
    frame->ecnMarked = false;
    frame->last = false;
    frame->hop = packet.hop;
    frame->intHops = 0;
    frame->feedback = feedback;
    m_network.CountPacket(*packet.flow, 1);
    ++m_network.notifications;
    packet.flow->TowardsSource(packet.hop).SendAhead(frame);
}

inline void
SwitchPort::TakeOff(const Packet& packet, Picos now)
{
    m_queueBytes -= packet.wireBytes;
    if (m_stats)
    {
        m_stats->Update(m_queueBytes, now);
    }
    if (IsTraced()) [[unlikely]]
    {
        m_queueTrace(m_queueBytes);
    }
}

inline void
SwitchPort::Mark(Packet& packet, EcnMarker& marker, uint64_t bytesLeft)
{
    if (marker.Marks(packet, bytesLeft))
    {
        packet.ecnMarked = true;
        m_markTrace(packet);
    }
}

inline void
SwitchPort::WriteOnLeaving(Packet& packet, uint64_t bytesLeft, Picos now)
{
    if (packet.kind == PacketKind::Data)
    {
        if (packet.telemetry != Telemetry::None)
        {
            WriteTelemetry(packet, bytesLeft, now);
        }
        if (packet.last) [[unlikely]]
        {
            m_flows -= packet.flow->ClearCounted(packet.hop) ? 1 : 0;
            if (m_remaining)
            {
                m_remaining->Forget(packet.flow->Id());
            }
        }
    }
    ++packet.hop;
}

inline void
Switch::Release(uint32_t ingressPort, uint32_t bytes)
{
    m_buffer.Remove(ingressPort, bytes);
    if (m_buffer.TakeResume(ingressPort))
    {
        m_ports[ingressPort]->SendPfc(PacketKind::Resume);
    }
}

inline Packet*
SwitchPort::TakeFirst(Picos now)
{
    Packet* packet = m_queue.Pop();
    TakeOff(*packet, now);
    if (static_cast<int64_t>(m_queueBytes) > m_mostUnmarked)
    {
        Mark(*packet, *m_marker, m_queueBytes);
    }
    m_switch.Release(packet->ingressPort, packet->wireBytes);
    WriteOnLeaving(*packet, m_queueBytes, now);
    return packet;
}

Packet*
SwitchPort::Dequeue(Picos now)
{
    return IsPaused() || m_queue.IsEmpty() ? nullptr : TakeFirst(now);
}

void
SwitchPort::Leave(Packet& packet, EcnMarker* marker, uint64_t bytesLeft, Picos now)
{
    TakeOff(packet, now);
    if (marker != nullptr)
    {
        Mark(packet, *marker, bytesLeft);
    }
    WriteOnLeaving(packet, bytesLeft, now);
}

inline void
SwitchPort::WriteTelemetry(Packet& packet, uint64_t bytesLeft, Picos now)
{
    if (packet.telemetry == Telemetry::OneByte) [[unlikely]]
    {
        WriteOneByte(packet, bytesLeft, now);
        return;
    }
    IntRecord& record = packet.intRecords[packet.intHops++];
    record.timeNs = ToNanos(now);
    record.rateBps = static_cast<uint64_t>(RateBps());
    record.flows = FlowCount(now);
    const auto queueBytes = static_cast<uint32_t>(std::min<uint64_t>(bytesLeft, UINT32_MAX));
    if (packet.telemetry == Telemetry::Quantised)
    {
        record.txBytes = Quantise(TxBytes(), TX_UNIT_BYTES * m_telemetryUnit);
        record.queueBytes = Quantise(queueBytes, QUEUE_UNIT_BYTES * m_telemetryUnit);
    }
    else
    {
        record.txBytes = TxBytes();
        record.queueBytes = queueBytes;
    }
    if (packet.tellsRemaining) [[unlikely]]
    {
        WriteShorterBacklog(packet, now);
    }
}

void
SwitchPort::WriteShorterBacklog(Packet& packet, Picos now)
{
    if (!m_remaining)
    {
        m_remaining =
            std::make_unique<RemainingBytes>(RTTS_UNTIL_SILENT * packet.flow->Path().maxBaseRtt);
    }
    const uint64_t shorter =
        m_remaining->Tell(packet.flow->Id(), packet.flow->RemainingFrom(packet.sequence), now);
    m_remaining->Write(packet,
                       static_cast<double>(shorter) * 8 * PS_PER_SECOND / PS_PER_NS / RateBps());
}

void
SwitchPort::WriteOneByte(Packet& packet, uint64_t bytesLeft, Picos now)
{
    if (!m_meter)
    {
        m_meter = std::make_unique<UtilisationMeter>();
    }
    const double utilisation =
        m_meter->Measure(now, TxBytes(), bytesLeft, RateBps(), packet.flow->Path().maxBaseRtt);
    UtilisationMeter::Write(packet, utilisation_byte::Encode(utilisation, Random().Draw()));
}

void
SwitchPort::Receive(Packet* packet)
{
    if (packet->kind >= PacketKind::Notification) [[unlikely]]
    {
        PassAhead(packet);
        return;
    }
    m_switch.Forward(packet, *this);
}

void
SwitchPort::PassAhead(Packet* packet)
{
    if (packet->kind == PacketKind::Notification)
    {
        --packet->hop;
        packet->flow->TowardsSource(packet->hop).SendAhead(packet);
        return;
    }
    SwitchPort* egress = packet->egress[packet->hop];
    if (packet->kind == PacketKind::Trimmed)
    {
        egress->SendHeader(packet);
        return;
    }
    ++packet->hop;
    egress->SendAhead(packet);
}

void
SwitchPort::SendHeader(Packet* packet)
{
    if (packet->telemetry != Telemetry::None)
    {
        WriteTelemetry(*packet, m_queueBytes, packet->arrival);
    }
    ++packet->hop;
    SendAhead(packet);
}

void
SwitchPort::Drop(Packet* packet)
{
    if (!m_trims || packet->kind != PacketKind::Data || packet->flow->IsOpenLoop())
    {
        Lose(packet, LossCause::BufferFull);
        return;
    }
    LosePayload(*packet, LossCause::Trimmed);
    packet->kind = PacketKind::Trimmed;
    packet->wireBytes = std::max(MIN_FRAME_BYTES, packet->wireBytes - packet->payloadBytes);
    packet->payloadBytes = 0;
    packet->ecnMarked = true;
    // Its answer reports the RTT of a packet that has waited in the full queue.
    packet->sentAt -= IdealTime(m_queueBytes, RateBps(), m_network.rounding);
    SendHeader(packet);
}

void
SwitchPort::OnFail(Picos now)
{
    m_switch.ForgetPause(*this);
    Discard(0, LossCause::Failure, now);
}

void
SwitchPort::Discard(uint32_t, LossCause cause, Picos now)
{
    const int64_t mostUnmarked =
        std::exchange(m_mostUnmarked, INT64_MAX); // lost packets are not marked
    while (!m_queue.IsEmpty())
    {
        Lose(TakeFirst(now), cause);
    }
    m_mostUnmarked = mostUnmarked;
}

void
SwitchPort::OnRecover()
{
    m_switch.PauseIfNeeded(*this);
}

TypeId
Switch::GetTypeId()
{
    static TypeId tid = TypeId("rdma::Switch").SetParent<Object>().SetGroupName("Rdma");
    return tid;
}

Switch::Switch(NetworkContext& network, const SharedBufferConfig& config)
    : m_network(network),
      m_config(config),
      m_buffer(config)
{
}

void
Switch::ConfigureBuffer(const NetworkRules& rules, double hostRateBps, uint32_t frameBytes)
{
    for (const auto& port : m_ports)
    {
        const uint64_t headroom = m_config.sharing == PoolSharing::Complete
                                      ? 0
                                      : rules.Headroom(port->RateBps(), port->Delay()) +
                                            m_config.headroomFrames * frameBytes;
        // One shift less for each doubling above the hosts' rate.
        const uint32_t less = rules.Doublings(port->RateBps() / hostRateBps);
        AddAccounts(headroom, m_config.alphaShift > less ? m_config.alphaShift - less : 0);
    }
}

void
Switch::AddAccounts(uint64_t headroomBytes, uint32_t alphaShift)
{
    m_buffer.AddPort(headroomBytes, alphaShift);
}

template <class Pause>
inline void
Switch::Admit(Packet* packet, uint32_t account, Pause pause)
{
    SwitchPort* egress = packet->egress[packet->hop]; // a packet has its path: no table here
    if (!m_buffer.Admits(account, packet->wireBytes))
    {
        egress->Drop(packet);
        return;
    }
    m_buffer.Add(account, packet->wireBytes);
    packet->ingressPort = static_cast<uint16_t>(account);
    if (m_buffer.TakePause(account))
    {
        pause();
    }
    egress->Enqueue(packet, packet->arrival);
}

void
Switch::Forward(Packet* packet, SwitchPort& ingress)
{
    SwitchPort* egress = packet->egress[packet->hop];
    if (egress->IsOpen(packet->arrival) && m_buffer.LetsPass(ingress.Index(), packet->wireBytes))
    {
        egress->PassOn(packet, packet->arrival);
        return;
    }
    ForwardByQueue(packet, ingress);
}

void
Switch::ForwardByQueue(Packet* packet, SwitchPort& ingress)
{
    Admit(packet, ingress.Index(), [&] { ingress.SendPfc(PacketKind::Pause); });
}

void
Switch::ForwardAs(Packet* packet, SwitchPort& ingress, uint32_t account, uint32_t own)
{
    Admit(packet, account, [&] { ingress.SendPfc(PacketKind::Pause, own); });
}

void
Switch::PauseIfNeeded(SwitchPort& port)
{
    if (m_buffer.TakePause(port.Index()))
    {
        port.SendPfc(PacketKind::Pause);
    }
}

} // namespace ns3::env::rdma
