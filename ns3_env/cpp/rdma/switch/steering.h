// SPDX-License-Identifier: GPL-2.0-or-later
// Next hops if switches choose for each packet: load balancing, and routes that change.
#pragma once

#include "ns3_env/cpp/rdma/link/packet.h"
#include "ns3_env/cpp/rdma/link/wire-flow.h"
#include "ns3_env/cpp/routing/routing.h"
#include "ns3_env/cpp/run/path-spec.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace ns3::env::rdma
{

class SwitchPort;

/// Ports by which a switch may send packets to one host: all are equally near.
struct NextHops
{
    std::vector<SwitchPort*> ports;
    std::array<uint32_t, 2> turn{}; ///< the next in turn, for data and for answers
    uint64_t version{0};            ///< version of the routes behind these ports
};

/// Chooses among several next hops.
class PathChoice
{
  public:
    virtual ~PathChoice() = default;
    /// \returns an index into `hops.ports`, of which there are at least two
    virtual size_t Pick(NextHops& hops, const Packet& packet, uint32_t node, Picos now) = 0;

    /// Gives each node a separate random stream, so that parts of the network may draw at once.
    virtual void DivideRandom(uint64_t /* seed */, uint32_t /* nodes */) {}
};

/// The ports by which a packet leaves its switches; only that of the next switch counts.
using Way = std::array<SwitchPort*, MAX_PATH_SWITCHES>;

/// The routes of one network as its switches know them, and the choice among them. Parts of the network may call it
/// concurrently, for different switches.
class Steering
{
  public:
    /// Finds a port by node and index; not called before the first packet.
    using PortOf = std::function<SwitchPort&(uint32_t node, uint32_t port)>;

    /// \param nodes how many the network has
    Steering(const PathSpec& spec, Routing routing, size_t nodes, PortOf portOf);

    /// Gives each node a separate random stream.
    void DivideRandom(uint64_t seed);

    /// Chooses the port by which a packet leaves the switch that it entered by `ingress`, and reports it to the switch,
    /// which asks next, by `way`. False if the packet is lost: there is no path, or the port is down.
    bool Steer(Packet* packet, SwitchPort& ingress, Way& way);

    /// Informs switches that a link is down, or is back.
    void SetLink(uint32_t a, uint32_t b, bool up);

  private:
    /// The next port of a packet; null if the switch `node` knows no path.
    SwitchPort* NextPort(const Packet& packet, uint32_t node, Picos now);
    NextHops& HopsTo(uint32_t host, uint32_t node);
    void Find(NextHops& hops, uint32_t host, uint32_t node);

    Routing m_routing;
    PortOf m_portOf;
    std::unique_ptr<PathChoice> m_choice;
    uint64_t m_version{1};
    std::vector<std::vector<std::unique_ptr<NextHops>>> m_hops; ///< by node and host, on demand
    std::mutex m_looking; ///< for hops: Routing caches distances
};

} // namespace ns3::env::rdma
