// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of constant rate beside the flows of an RDMA network.
#include "streams.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/constant-rate.h"
#include "ns3_env/cpp/engine/heartbeat.h"

#include <map>
#include <utility>

namespace ns3::env::rdma
{

namespace
{

/// Far from those of flows, so that no flow takes another of several equal paths because there is a stream.
constexpr uint16_t FIRST_SOURCE_PORT = 40000;

} // namespace

Streams::Streams(const Scenario& scenario, const Fabric& fabric)
    : m_fabric(fabric)
{
    std::map<std::pair<uint32_t, uint32_t>, uint16_t> count; // streams so far per host pair
    for (const StreamEntry& entry : scenario.streams)
    {
        Heartbeat::Beat();
        const FlowSpec& spec = entry.flow;
        m_ports.push_back(
            static_cast<uint16_t>(FIRST_SOURCE_PORT + count[{spec.source, spec.destination}]++));
        m_streams.push_back(m_fabric.Connect(spec, m_ports.back(), CreateObject<Uncontrolled>()));
        m_streams.back()->SetOpenLoop(entry.rateBps, entry.stop);
    }
}

void
Streams::Schedule()
{
    for (const auto& stream : m_streams)
    {
        Heartbeat::Beat();
        Simulator::Schedule(Time(stream->StartTime()),
                            [this, pair = stream.get()]
                            { m_fabric.Rules().Start([pair] { pair->Start(); }); });
    }
}

StreamCounts
Streams::Of(size_t stream) const
{
    const QueuePair& pair = *m_streams[stream];
    return {pair.TransmittedBytes(), pair.ReceivedBytes(), pair.LostBytes()};
}

uint64_t
Streams::TransmittedPayload() const
{
    uint64_t bytes = 0;
    for (const auto& stream : m_streams)
    {
        Heartbeat::Beat();
        bytes += stream->TransmittedBytes();
    }
    return bytes;
}

} // namespace ns3::env::rdma
