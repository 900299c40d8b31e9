// SPDX-License-Identifier: GPL-2.0-or-later
// Facts of a TCP path before its first segment, and the standalone time of a message.
#include "tcp-path.h"

#include "segment.h"

#include <cmath>

namespace ns3::env::tcp
{

namespace
{

constexpr uint16_t DESTINATION_PORT = 100; // as RDMA's flows have it
/// Header bytes of a segment with payload on the wire, the link's included.
constexpr uint32_t SEGMENT_HEADER_BYTES = HEADER_BYTES + LINK_HEADER_BYTES;

Picos
Serialisation(uint64_t bytes, double rateBps)
{
    return IdealTime(bytes, rateBps, Rounding::Exact);
}

} // namespace

FiveTuple
TupleOf(const FlowSpec& spec, uint16_t sourcePort)
{
    return {NodeAddress(spec.source), NodeAddress(spec.destination), sourcePort, DESTINATION_PORT};
}

Picos
LargestBaseRtt(const Routing& routing, const TcpSettings& settings)
{
    const uint32_t frame = settings.segmentBytes + HEADER_BYTES + LINK_HEADER_BYTES;
    return routing.LargestOfPaths(frame, Rounding::Exact).baseRtt;
}

TcpPath::TcpPath(const Routing& routing,
                 const FlowSpec& spec,
                 const FiveTuple& tuple,
                 const TcpSettings& settings)
    : m_forward(routing.Path(spec.source, spec.destination, tuple)),
      m_backward(routing.Path(spec.destination, spec.source, tuple.Reversed())),
      m_segmentBytes(settings.segmentBytes)
{
    TcpOptions syn;
    syn.windowScale = 0;
    syn.sackPermitted = settings.sack;
    m_synOptionBytes = syn.Bytes();
}

Picos
TcpPath::Travel(const Hops& hops, uint64_t frameBytes)
{
    Picos time = 0;
    for (const auto& [node, link] : hops)
    {
        time += link->delay + Serialisation(frameBytes, link->rateBps);
    }
    return time;
}

Picos
TcpPath::RoundTrip(uint64_t frameBytes) const
{
    return Travel(m_forward, frameBytes) + Travel(m_backward, SEGMENT_HEADER_BYTES);
}

PathFacts
TcpPath::Facts(Picos maxBaseRtt) const
{
    PathFacts facts;
    facts.payloadBytes = m_segmentBytes;
    facts.packetBytes = m_segmentBytes + SEGMENT_HEADER_BYTES;
    facts.hostRateBps = m_forward.front().second->rateBps;
    facts.slowestBps = facts.hostRateBps;
    facts.minRateBps = facts.hostRateBps / 100;
    facts.baseRtt = RoundTrip(facts.packetBytes);
    facts.maxBaseRtt = maxBaseRtt;
    Picos oneWay = 0;
    for (const auto& [node, link] : m_forward)
    {
        if (node != m_forward.front().first)
        {
            facts.hops.push_back({link->rateBps, oneWay, facts.baseRtt - oneWay});
        }
        oneWay += link->delay + Serialisation(facts.packetBytes, link->rateBps);
        facts.slowestBps = std::min(facts.slowestBps, link->rateBps);
    }
    facts.links = LinkIds(m_forward);
    facts.bdpBytes = BdpBytes(facts.baseRtt, facts.hostRateBps);
    facts.maxBdpBytes = BdpBytes(facts.maxBaseRtt, facts.hostRateBps);
    return facts;
}

Picos
TcpPath::Handshake() const
{
    const uint64_t syn = SEGMENT_HEADER_BYTES + m_synOptionBytes;
    return Travel(m_forward, syn) + Travel(m_backward, syn);
}

Picos
TcpPath::Standalone(uint64_t sizeBytes) const
{
    const uint64_t full = sizeBytes / m_segmentBytes;
    const uint64_t rest = sizeBytes % m_segmentBytes;
    Pipeline links{&m_forward};
    links.Pass({SEGMENT_HEADER_BYTES}); // of the handshake
    links.Pass({m_segmentBytes + SEGMENT_HEADER_BYTES}, full);
    links.Pass({rest + SEGMENT_HEADER_BYTES}, rest > 0 ? 1 : 0);
    return Handshake() + links.Arrival() + Travel(m_backward, SEGMENT_HEADER_BYTES);
}

} // namespace ns3::env::tcp
