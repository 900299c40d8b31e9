// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of UDP datagrams at a constant rate, beside TCP's flows.
#include "udp-streams.h"

#include "queue-factory.h"
#include "segment.h"

#include "ns3/inet-socket-address.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/udp-l4-protocol.h"
#include "ns3/udp-socket-factory.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/engine/now.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ns3::env::tcp
{

namespace
{

/// Far from those of flows, so that no flow takes another of several equal paths because there is a stream.
constexpr uint16_t FIRST_SOURCE_PORT = 40000;
constexpr uint16_t MOST_STREAMS = std::numeric_limits<uint16_t>::max() - FIRST_SOURCE_PORT + 1;
constexpr uint16_t DISCARD_PORT = 9; // RFC 863

} // namespace

std::vector<FiveTuple>
StreamTuples(const Scenario& scenario)
{
    std::vector<FiveTuple> tuples;
    std::map<uint32_t, uint16_t> begun; // streams so far, by source
    for (const StreamEntry& entry : scenario.streams)
    {
        Heartbeat::Beat();
        const FlowSpec& spec = entry.flow;
        uint16_t& number = begun[spec.source];
        if (number == MOST_STREAMS)
        {
            throw ScenarioError("streams",
                                "more than " + std::to_string(MOST_STREAMS) +
                                    " streams begin at host " + std::to_string(spec.source) +
                                    ": it has no port for another");
        }
        tuples.push_back({NodeAddress(spec.source),
                          NodeAddress(spec.destination),
                          static_cast<uint16_t>(FIRST_SOURCE_PORT + number++),
                          DISCARD_PORT});
    }
    return tuples;
}

uint32_t
StreamFrameBytes(uint32_t payloadBytes)
{
    return payloadBytes + UDP_HEADER_BYTES + IP_HEADER_BYTES + LINK_HEADER_BYTES;
}

UdpStreams::UdpStreams(const Scenario& scenario, const Fabric& fabric)
    : m_fabric(fabric),
      m_payloadBytes(scenario.payloadBytes)
{
    m_streams.reserve(scenario.streams.size());
    const std::vector<FiveTuple> tuples = StreamTuples(scenario);
    for (size_t i = 0; i < tuples.size(); ++i)
    {
        Heartbeat::Beat();
        Add(scenario.streams[i], tuples[i]);
    }
}

UdpStreams::~UdpStreams()
{
    for (Stream& stream : m_streams)
    {
        stream.next.Cancel();
    }
    for (const auto& [node, sink] : m_sinks)
    {
        sink->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
    }
}

void
UdpStreams::Add(const StreamEntry& entry, const FiveTuple& tuple)
{
    const auto& [id, source, destination, size, start] = entry.flow;
    const Hops path = m_fabric.Paths().Path(source, destination, tuple);
    const Egress& egress = m_fabric.EgressTo(source, path.front().second->node);
    const uint32_t frame = StreamFrameBytes(m_payloadBytes);
    const uint32_t packet = frame - LINK_HEADER_BYTES;
    if (packet > egress.device->GetMtu())
    {
        throw ScenarioError(
            "streams",
            "a stream's datagrams of " + std::to_string(m_payloadBytes) +
                " payload bytes fit in no packet: at most " +
                std::to_string(egress.device->GetMtu() - UDP_HEADER_BYTES - IP_HEADER_BYTES));
    }
    Ptr<Socket> socket = SocketAt(source, tuple.sourcePort);
    socket->Connect(InetSocketAddress(Ipv4Address(tuple.destinationIp), DISCARD_PORT));
    if (!m_sinks.contains(destination))
    {
        const auto receive = [this](Ptr<Socket> sink) { Receive(sink); };
        m_sinks[destination] = SocketAt(destination, DISCARD_PORT);
        m_sinks[destination]->SetRecvCallback(Callback<void, Ptr<Socket>>(receive));
    }
    m_streamOf[{tuple.sourceIp, tuple.sourcePort}] = m_streams.size();
    m_streams.push_back({.table{entry.rateBps, frame, start, entry.stop},
                         .tuple = tuple,
                         .socket = socket,
                         .egress = egress,
                         .packetTime = IdealTime(frame, egress.rateBps, Rounding::Exact),
                         .next = {}});
}

Ptr<Socket>
UdpStreams::SocketAt(uint32_t node, uint16_t port) const
{
    const Ptr<Node> host = m_fabric.NodeAt(node);
    if (!host->GetObject<UdpL4Protocol>())
    {
        host->AggregateObject(CreateObject<UdpL4Protocol>());
    }
    Ptr<Socket> socket = Socket::CreateSocket(host, UdpSocketFactory::GetTypeId());
    const int taken = socket->Bind(InetSocketAddress(Ipv4Address(NodeAddress(node)), port));
    NS_ABORT_MSG_IF(taken != 0, "two UDP sockets have the port " << port << " of host " << node);
    return socket;
}

void
UdpStreams::Schedule()
{
    for (Stream& stream : m_streams)
    {
        Heartbeat::Beat();
        SendAt(stream, std::max(stream.table.DueAt(0), NowPicos()));
    }
}

void
UdpStreams::SendAt(Stream& stream, Picos time)
{
    if (time < stream.table.Stop())
    {
        stream.next = Simulator::Schedule(TimeStep(static_cast<uint64_t>(time - NowPicos())),
                                          [this, &stream] { Send(stream); });
    }
}

void
UdpStreams::Send(Stream& stream)
{
    const Picos now = NowPicos();
    Picos due = stream.table.DueAt(stream.sent);
    while (due <= now &&
           stream.egress.meter->WaitingBytes() < m_fabric.Settings().socketBufferBytes)
    {
        stream.socket->Send(Create<Packet>(m_payloadBytes));
        due = stream.table.DueAt(++stream.sent);
    }
    SendAt(stream, due > now ? due : now + stream.packetTime); // there may be room by then
}

void
UdpStreams::Receive(Ptr<Socket> socket)
{
    Address from;
    while (const Ptr<Packet> packet = socket->RecvFrom(from))
    {
        const auto sender = InetSocketAddress::ConvertFrom(from);
        const size_t stream = m_streamOf.at({sender.GetIpv4().Get(), sender.GetPort()});
        m_streams[stream].receivedBytes += packet->GetSize();
    }
}

// --- counts --------------------------------------------------------------------------------------

StreamCounts
UdpStreams::Of(size_t stream) const
{
    const Stream& s = m_streams[stream];
    return {s.sent * m_payloadBytes, s.receivedBytes, m_fabric.LostOf(s.tuple)};
}

uint64_t
UdpStreams::TransmittedPayload() const
{
    uint64_t bytes = 0;
    for (const Stream& stream : m_streams)
    {
        Heartbeat::Beat();
        bytes += stream.sent * m_payloadBytes;
    }
    return bytes;
}

uint64_t
UdpStreams::DeliveredPayload() const
{
    uint64_t bytes = 0;
    for (const Stream& stream : m_streams)
    {
        Heartbeat::Beat();
        bytes += stream.receivedBytes;
    }
    return bytes;
}

} // namespace ns3::env::tcp
