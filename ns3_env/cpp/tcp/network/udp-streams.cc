// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of UDP datagrams at a constant rate, next to TCP's flows.
#include "udp-streams.h"

#include "segment.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace ns3::env::tcp
{

namespace
{

/// Far from the ports of flows, so that a stream does not change which of several equal paths a flow uses.
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

UdpStreams::UdpStreams(const Scenario& scenario, Fabric& fabric)
    : m_fabric(fabric),
      m_payloadBytes(scenario.payloadBytes)
{
    m_streams.reserve(scenario.streams.size());
    const std::vector<FiveTuple> tuples = StreamTuples(scenario);
    for (size_t i = 0; i < tuples.size(); ++i)
    {
        Add(scenario.streams[i], tuples[i]);
    }
}

UdpStreams::~UdpStreams()
{
    for (Stream& stream : m_streams)
    {
        stream.next.Cancel();
        stream.way->there.datagramSink = [](const Segment&) {};
        m_fabric.Ways().Close(*stream.way);
    }
}

void
UdpStreams::Add(const StreamEntry& entry, const FiveTuple& tuple)
{
    const FlowSpec& flow = entry.flow;
    const Hops path = m_fabric.Paths().Path(flow.source, flow.destination, tuple);
    const Egress& egress = m_fabric.EgressTo(flow.source, path.front().second->node);
    const uint32_t frame = StreamFrameBytes(m_payloadBytes);
    const uint32_t packet = frame - LINK_HEADER_BYTES;
    if (packet > m_fabric.LongestPacket())
    {
        throw ScenarioError(
            "streams",
            "a stream's datagrams of " + std::to_string(m_payloadBytes) +
                " payload bytes fit in no packet: at most " +
                std::to_string(m_fabric.LongestPacket() - UDP_HEADER_BYTES - IP_HEADER_BYTES));
    }
    Connection& way = m_fabric.Ways().Open(tuple, UDP_PROTOCOL);
    way.there.datagramSink = [this, index = m_streams.size()](const Segment& datagram)
    { m_streams[index].receivedBytes += datagram.payload; };
    m_streams.push_back({.table{entry.rateBps, frame, flow.start, entry.stop},
                         .tuple = tuple,
                         .way = &way,
                         .egress = *egress.egress,
                         .packetTime = IdealTime(frame, egress.rateBps, Rounding::Exact),
                         .next = {}});
}

void
UdpStreams::Schedule()
{
    for (Stream& stream : m_streams)
    {
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
    while (due <= now && stream.egress.WaitingBytes() < m_fabric.Settings().socketBufferBytes)
    {
        Segment* datagram = m_fabric.Ways().Make(stream.way->there);
        datagram->protocol = UDP_PROTOCOL;
        datagram->payload = m_payloadBytes;
        m_fabric.Ways().Send(datagram);
        due = stream.table.DueAt(++stream.sent);
    }
    SendAt(stream, due > now ? due : now + stream.packetTime); // there may be room by then
}

// --- counts --------------------------------------------------------------------------------------

StreamCounts
UdpStreams::Of(size_t stream) const
{
    const Stream& s = m_streams[stream];
    uint64_t lost = 0;
    for (const Port* port : s.way->there.hops)
    {
        lost += port->LostOf(s.tuple);
    }
    return {s.sent * m_payloadBytes, s.receivedBytes, lost};
}

uint64_t
UdpStreams::TransmittedPayload() const
{
    uint64_t bytes = 0;
    for (const Stream& stream : m_streams)
    {
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
        bytes += stream.receivedBytes;
    }
    return bytes;
}

} // namespace ns3::env::tcp
