// SPDX-License-Identifier: GPL-2.0-or-later
// One end of a full-duplex link: transmitter, flight, PFC state.
#include "port.h"

#include "ns3/trace-source-accessor.h"
#include "ns3_env/cpp/engine/watched-trace.h"

#include <cmath>
#include <utility>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Port);

TypeId
Port::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::Port")
            .SetParent<Object>()
            .SetGroupName("Rdma")
            .AddTraceSource("Tx",
                            "A frame's transmission begins.",
                            MakeWatchedTrace(&Port::m_txTrace),
                            "ns3::env::rdma::Packet::TracedCallback")
            .AddTraceSource("Rx",
                            "A frame has arrived from the link.",
                            MakeWatchedTrace(&Port::m_rxTrace),
                            "ns3::env::rdma::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "A packet that was to leave here, or has left, is lost, and why.",
                            MakeTraceSourceAccessor(&Port::m_dropTrace),
                            "ns3::env::rdma::Port::DropTracedCallback")
            .AddTraceSource("Pause",
                            "The peer paused (true) or resumed (false) this port's data class.",
                            MakeTraceSourceAccessor(&Port::m_pauseTrace),
                            "ns3::TracedValueCallback::Bool");
    return tid;
}

Port::Port(NetworkContext& network, uint32_t nodeId, uint32_t index)
    : m_network(network),
      m_arrivalEvent(this, nodeId),
      m_nodeId(nodeId),
      m_index(static_cast<uint16_t>(index)),
      m_txEvent(this, nodeId),
      m_random(network.RandomOf(nodeId, index))
{
}

void
Port::Connect(Port& a, Port& b, double rateBps, Picos delay)
{
    for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}})
    {
        from->m_peer = to;
        from->m_rateBps = rateBps;
        from->m_linkRateBps = rateBps;
        from->m_delay = delay;
        const double perByte = 8.0 * PS_PER_SECOND / rateBps;
        const bool isWhole = perByte == std::floor(perByte);
        if (isWhole && from->m_network.rounding == Rounding::Exact)
        {
            from->m_picosPerByte = static_cast<Picos>(perByte);
        }
    }
}

void
Port::SetSchedule(LinkSchedule schedule)
{
    m_schedule = std::make_unique<LinkSchedule>(std::move(schedule));
    m_picosPerByte = 0;
}

Picos
Port::NewTransmissionTime(const Packet& packet, Picos now)
{
    if (m_schedule)
    {
        const Picos end = m_schedule->TransmissionEnd(packet.wireBytes, now);
        m_rateBps = 8.0 * packet.wireBytes * PS_PER_SECOND / static_cast<double>(end - now);
        m_delay = m_schedule->Arrival(end) - end;
        return end - now;
    }
    const Picos time = SerialisationTime(packet.wireBytes, m_rateBps, m_network.rounding);
    m_last[packet.kind == PacketKind::Data ? 0 : 1] = {packet.wireBytes, time};
    return time;
}

void
Port::Reserve()
{
    Timeline* timeline = Timeline::Current();
    if (timeline == nullptr)
    {
        Arm(m_busyUntil);
        return;
    }
    m_armedAt = m_busyUntil;
    m_reserved = timeline->ReserveAt(m_busyUntil).number;
    m_isReserved = true;
}

void
Port::TakeReserved()
{
    Timeline& timeline = *Timeline::Current();
    m_isReserved = false;
    const Moment place{m_armedAt, m_reserved};
    if (timeline.HasPassed(place))
    {
        m_armedAt = NEVER; // there would have been nothing to send
        return;
    }
    timeline.ArmAt(m_txEvent, place, m_nodeId);
}

void
Port::ReserveArrival(Packet& before, Picos arrival)
{
    if (Timeline* timeline = Timeline::Current(); timeline != nullptr)
    {
        before.placeBehind = timeline->ReserveAt(arrival).number;
        return;
    }
    m_arrivalEvent.ArmFor(arrival);
}

void
Port::ArmReservedArrival(const Packet& before)
{
    if (Timeline* timeline = Timeline::Current(); timeline != nullptr)
    {
        timeline->ArmAt(m_arrivalEvent, {before.arrival, before.placeBehind}, m_nodeId);
    }
}

void
Port::OnTransmitterFree()
{
    if (NowPicos() != m_armedAt)
    {
        return; // an earlier tx event was armed after this one
    }
    m_armedAt = NEVER;
    Kick();
}

inline bool
Port::ArmsNextAtOnce(Timeline& timeline, const Packet& packet)
{
    if (m_network.linkEvents == LinkEvents::Merged) [[likely]]
    {
        return timeline.ArmsAtOnceFor(m_arrivalEvent, packet.arrival, m_nodeId);
    }
    const bool perFrame = m_network.linkEvents == LinkEvents::PerFrame;
    const uint64_t number = perFrame ? packet.placeBehind : m_index;
    return timeline.ArmsAtOnce(m_arrivalEvent, {packet.arrival, number}, m_nodeId);
}

void
Port::OnArrival()
{
    Packet* packet = m_incoming.Pop();
    Timeline* timeline = Timeline::Current();
    // What most arrivals need calls nothing before the end, so that no registers are saved for it.
    if (timeline != nullptr && !m_attended && packet->flow != nullptr &&
        (m_incoming.IsEmpty() || ArmsNextAtOnce(*timeline, *packet))) [[likely]]
    {
        packet->arrival = timeline->Now();
        Receive(packet);
        return;
    }
    ArmNextAndTakeIn(packet);
}

void
Port::ArmNextAndTakeIn(Packet* packet)
{
    if (!m_incoming.IsEmpty())
    {
        if (m_network.linkEvents == LinkEvents::PerFrame)
        {
            ArmReservedArrival(*packet);
        }
        else
        {
            ArmArrival(packet->arrival);
        }
    }
    packet->arrival = NowPicos();
    if ((m_attended || packet->flow == nullptr) && !TakesIn(packet))
    {
        return;
    }
    Receive(packet);
}

void
Port::Expect(Packet* packet)
{
    if (m_incoming.IsEmpty())
    {
        ArmArrival(packet->arrival);
    }
    m_incoming.Push(packet, packet->arrival);
    // Prefetches the members that its switch will read and write.
    __builtin_prefetch(packet->egress);
    __builtin_prefetch(packet->intRecords.data() + packet->intHops, 1);
}

bool
Port::TakesIn(Packet* packet)
{
    if (!m_peer->Passes(packet))
    {
        return false;
    }
    m_rxTrace(*packet);
    if (packet->flow != nullptr)
    {
        return true;
    }
    Made(m_pauses).framesReceived += packet->kind == PacketKind::Pause ? 1 : 0;
    OnPfc(*packet); // PFC is handled by the MAC itself
    m_network.Release(packet);
    return false;
}

void
Port::Lose(Packet* packet,
           LossCause cause,
           std::unique_ptr<LossCounts>& counts,
           NetworkContext& network)
{
    CountLoss(*packet, cause, counts, network);
    network.Release(packet);
}

void
Port::CountLoss(const Packet& packet,
                LossCause cause,
                std::unique_ptr<LossCounts>& counts,
                NetworkContext& network)
{
    Made(counts).Add(cause, packet.payloadBytes); // 0 of an ACK
    ++network.droppedPackets;
    network.droppedPayload += packet.payloadBytes;
    if (packet.kind == PacketKind::Data)
    {
        packet.flow->OnDataLost(packet.payloadBytes);
    }
    m_dropTrace(packet, cause);
}

void
Port::SendPfc(PacketKind kind, uint32_t trafficClass)
{
    Packet* frame = m_network.pool.Allocate();
    frame->flow = nullptr;
    frame->kind = kind;
    frame->sequence = trafficClass;
    frame->wireBytes = PFC_FRAME_BYTES;
    frame->payloadBytes = 0;
    m_control.PushAhead(frame, PacketKind::Notification);
    m_network.random->OnPfcFrame();
    Made(m_pauses).framesSent += kind == PacketKind::Pause ? 1 : 0;
    m_network.pfcFrames += kind == PacketKind::Pause ? 1 : 0;
    Kick();
}

void
Port::SendAhead(Packet* frame)
{
    m_control.Push(frame);
    Kick();
}

void
Port::OnPfc(const Packet& frame)
{
    SetPaused(frame.kind == PacketKind::Pause, frame.arrival);
}

void
Port::SetPaused(bool paused, Picos now)
{
    if (paused == m_obstacles.paused)
    {
        return;
    }
    m_obstacles.paused = paused;
    if (paused)
    {
        Made(m_pauses).since = now;
    }
    else
    {
        m_pauses->total += now - m_pauses->since;
    }
    m_pauseTrace(paused);
    if (!paused)
    {
        Kick();
    }
}

Picos
Port::PausedTime(Picos now) const
{
    return m_pauses ? m_pauses->total + (m_obstacles.paused ? now - m_pauses->since : 0) : 0;
}

LossCounts
Port::Lost() const
{
    LossCounts lost;
    for (const auto& counts : {m_lost.get(), m_lostOnLink.get()})
    {
        if (counts != nullptr)
        {
            lost += *counts;
        }
    }
    return lost;
}

void
Port::SetLoss(const Corruption& corruption)
{
    if (corruption.packetRate > 0 || m_hazard)
    {
        Made(m_hazard).probability = corruption.packetRate;
    }
    m_peer->m_attended |= corruption.packetRate > 0;
    if (corruption.bitErrorRate > 0)
    {
        SetDropFilter(Callback<bool, const Packet&>(
            [this, corruption](const Packet& packet)
            { return m_peer->Random().Draw() < corruption.OfBits(8 * packet.wireBytes); }));
    }
}

void
Port::SetDropFilter(Callback<bool, const Packet&> filter)
{
    Made(m_hazard).filter = filter;
    WatchArrivals();
}

void
Port::Fail(Picos now)
{
    if (!m_outage)
    {
        m_outage = std::make_unique<Outage>();
        WatchArrivals();
    }
    *m_outage = {.down = true, .busyUntil = m_busyUntil, .lostNext = m_peer->m_incoming.Count()};
    m_busyUntil = NEVER; // the port is never free
    while (Packet* frame = m_control.Pop())
    {
        m_network.Release(frame);
    }
    if (m_obstacles.paused)
    {
        SetPaused(false, now);
    }
    OnFail(now);
}

void
Port::Recover(Picos now)
{
    m_outage->down = false;
    m_busyUntil = std::max(now, m_outage->busyUntil);
    OnRecover();
    Kick();
}

bool
Port::Passes(Packet* packet)
{
    if (m_outage && m_outage->lostNext > 0)
    {
        --m_outage->lostNext;
        if (packet->flow == nullptr)
        {
            m_peer->m_network.Release(packet);
            return false;
        }
        LoseOnLink(packet, LossCause::Failure);
        return false;
    }
    if (packet->flow != nullptr && IsLost(*packet))
    {
        LoseOnLink(packet, LossCause::Link);
        return false;
    }
    return true;
}

bool
Port::IsLost(const Packet& packet)
{
    if (!m_hazard)
    {
        return false;
    }
    if (m_hazard->probability > 0 && m_peer->Random().Draw() < m_hazard->probability)
    {
        return true;
    }
    return !m_hazard->filter.IsNull() && m_hazard->filter(packet);
}

} // namespace ns3::env::rdma
