// SPDX-License-Identifier: GPL-2.0-or-later
// State shared by one network's ports and sockets: segments, timers, channels, and delivery to hosts.
#pragma once

#include "segment.h"
#include "timer.h"

#include "ns3_env/cpp/routing/ecmp.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3::env::tcp
{

class Port;

/// Receives segments that have arrived at its host.
class Listener
{
  public:
    virtual ~Listener() = default;
    virtual void Receive(const Segment& segment) = 0;
};

struct FiveTupleHash
{
    size_t operator()(const FiveTuple& tuple) const { return EcmpHash(tuple, 0); }
};

struct SameFiveTuple
{
    bool operator()(const FiveTuple& a, const FiveTuple& b) const
    {
        return a.sourceIp == b.sourceIp && a.destinationIp == b.destinationIp &&
               a.sourcePort == b.sourcePort && a.destinationPort == b.destinationPort;
    }
};

struct Connection;

/// One direction of a connection, or a stream: the path of all its packets.
struct Channel
{
    FiveTuple tuple{};
    std::vector<Port*> hops;                          ///< from the source on
    Listener* end{nullptr};                           ///< the listener at the destination
    std::function<void(const Segment&)> datagramSink; ///< a stream's, at the destination
    uint16_t* nextId{nullptr}; ///< of the IP packets of this pair of hosts and protocol
    Connection* connection{nullptr};
};

/// Two directions, of which a stream uses the first.
struct Connection
{
    Channel there;
    Channel back;
    uint32_t users{0}; ///< owners, and segments in flight

    const Channel& OtherThan(const Channel& one) const { return &one == &there ? back : there; }
    Channel& OtherThan(const Channel& one) { return &one == &there ? back : there; }
};

/// Connections of one network.
class Network
{
  public:
    /// Ports on the path of `tuple` from its source to its destination.
    using Router = std::function<std::vector<Port*>(const FiveTuple& tuple)>;

    explicit Network(Router router)
        : m_router(std::move(router))
    {
    }

    /// The connection from the source of `tuple`, which exists while it has users; the caller becomes one.
    Connection& Open(const FiveTuple& tuple, uint8_t protocol);
    /// The caller uses it no more.
    void Close(Connection& connection);
    /// Number of connections.
    size_t Connections() const { return m_connections.size(); }

    /// Makes the next IP packet on `channel`, to be filled and sent.
    Segment* Make(Channel& channel);
    /// Sends it, with the lengths that follow from its payload and its options.
    void Send(Segment* segment);
    /// Drops it.
    void Drop(Segment* segment);
    /// Delivers a segment that has arrived over its last link.
    void Deliver(Segment* segment);

    TimerPool& Timers() { return m_timers; }
    Timeline& GetTimeline() const { return m_timers.GetTimeline(); }
    /// Payload bytes that have arrived over their last link.
    uint64_t DeliveredPayload() const { return m_deliveredPayload; }

  private:
    void Fill(Channel& channel, const FiveTuple& tuple, uint8_t protocol);
    void Refuse(const Segment& segment);

    Router m_router;
    SegmentPool m_segments;
    TimerPool m_timers;
    std::unordered_map<FiveTuple, std::unique_ptr<Connection>, FiveTupleHash, SameFiveTuple>
        m_connections;
    std::map<std::tuple<uint32_t, uint32_t, uint8_t>, uint16_t> m_ids;
    uint64_t m_deliveredPayload{0};
};

} // namespace ns3::env::tcp
