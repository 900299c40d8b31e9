// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of UDP datagrams at a constant rate, next to TCP's flows.
#pragma once

#include "fabric.h"

#include "ns3/event-id.h"
#include "ns3_env/cpp/engine/constant-rate.h"
#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <vector>

namespace ns3::env::tcp
{

/// Five-tuples that switches hash for a scenario's streams. \throws ScenarioError if a host has too many
std::vector<FiveTuple> StreamTuples(const Scenario& scenario);

/// Bytes of a stream's datagram on the wire.
uint32_t StreamFrameBytes(uint32_t payloadBytes);

/// The streams of one network: datagrams of the scenario's payload, each due at its own time. Datagrams that are due
/// while a socket's buffer of bytes (TcpSettings) waits at the host's link are delayed, leave as soon as they can, and
/// not after the stop.
class UdpStreams
{
  public:
    /// `fabric` must outlive this. \throws ScenarioError if there is no path, or a datagram fits in no packet
    UdpStreams(const Scenario& scenario, Fabric& fabric);
    ~UdpStreams();

    UdpStreams(UdpStreams&&) = delete;

    /// Schedules the start of each.
    void Schedule();

    StreamCounts Of(size_t stream) const;
    const FiveTuple& Tuple(size_t stream) const { return m_streams[stream].tuple; }
    /// Payload bytes handed to the hosts' links, of all streams.
    uint64_t TransmittedPayload() const;
    /// Payload bytes that applications received, of all streams; Fabric's count includes them.
    uint64_t DeliveredPayload() const;

  private:
    struct Stream
    {
        OpenLoop table;
        FiveTuple tuple;
        Connection* way;
        const Port& egress; ///< of its host
        Picos packetTime;   ///< of a datagram on the host's link
        EventId next;
        uint64_t sent{0}; ///< datagrams
        uint64_t receivedBytes{0};
    };

    void Add(const StreamEntry& entry, const FiveTuple& tuple);
    void SendAt(Stream& stream, Picos time);
    /// All that is due.
    void Send(Stream& stream);

    Fabric& m_fabric;
    uint32_t m_payloadBytes;
    std::vector<Stream> m_streams;
};

} // namespace ns3::env::tcp
