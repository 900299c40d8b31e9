// SPDX-License-Identifier: GPL-2.0-or-later
// Facts of a TCP path before its first segment, and the time that a message needs alone.
#include "tcp-path.h"

#include "queue-factory.h"

#include <cmath>

namespace ns3::env::tcp
{

namespace
{

constexpr uint16_t DESTINATION_PORT = 100; // as RDMA's flows have it
constexpr uint32_t WORD_BYTES = 4;
constexpr uint32_t WINDOW_SCALE_BYTES = 3;
constexpr uint32_t SACK_PERMITTED_BYTES = 2;
constexpr uint32_t TIMESTAMP_BYTES = 10;

/// TCP's header ends with a whole word.
uint32_t
Padded(uint32_t bytes)
{
    return (bytes + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
}

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
    const uint32_t always = settings.timestamps ? TIMESTAMP_BYTES : 0;
    m_headerBytes = HEADER_BYTES + LINK_HEADER_BYTES + Padded(always);
    m_synOptionBytes =
        Padded(always + WINDOW_SCALE_BYTES + (settings.sack ? SACK_PERMITTED_BYTES : 0)) -
        Padded(always);
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
    return Travel(m_forward, frameBytes) + Travel(m_backward, m_headerBytes);
}

PathFacts
TcpPath::Facts(Picos maxBaseRtt) const
{
    PathFacts facts;
    facts.payloadBytes = m_segmentBytes;
    facts.packetBytes = m_segmentBytes + m_headerBytes;
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
    const uint64_t syn = m_headerBytes + m_synOptionBytes;
    return Travel(m_forward, syn) + Travel(m_backward, syn);
}

Picos
TcpPath::Standalone(uint64_t sizeBytes) const
{
    const uint64_t full = sizeBytes / m_segmentBytes;
    const uint64_t rest = sizeBytes % m_segmentBytes;
    Pipeline links{&m_forward};
    links.Pass({m_headerBytes}); // of the handshake
    links.Pass({m_segmentBytes + m_headerBytes}, full);
    links.Pass({rest + m_headerBytes}, rest > 0 ? 1 : 0);
    return Handshake() + links.Arrival() + Travel(m_backward, m_headerBytes);
}

} // namespace ns3::env::tcp
