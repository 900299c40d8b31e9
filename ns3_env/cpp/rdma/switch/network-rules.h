// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of a network left open by physics, with the default preset's choices.
#pragma once

#include "ecn-marker.h"
#include "shared-buffer.h"

#include "ns3_env/cpp/contract/path-facts.h"
#include "ns3_env/cpp/engine/random-source.h"
#include "ns3_env/cpp/rdma/link/port.h"
#include "ns3_env/cpp/rdma/recovery/go-back-n.h"
#include "ns3_env/cpp/routing/graph.h"

#include <functional>
#include <memory>

namespace ns3::env
{
class CongestionControl;
}

namespace ns3::env::rdma
{

class Nic;

/// Units of bytes sent in quantised telemetry, at this rate of hosts (docs/sources/published-simulator.md, "Switch").
inline constexpr uint32_t TX_UNIT_BYTES = 128;
inline constexpr double TELEMETRY_REFERENCE_BPS = 25e9;

/// The rules of the default preset. A network calls them while it is built and as a flow starts, never per packet.
class NetworkRules
{
  public:
    virtual ~NetworkRules() = default;

    virtual Rounding GetRounding() const { return Rounding::Exact; }
    virtual LinkEvents GetLinkEvents() const { return LinkEvents::Merged; }
    /// Sharing of a switch's memory, with or without PFC.
    virtual PoolSharing GetPoolSharing(bool pfc) const
    {
        return pfc ? PoolSharing::Thresholds : PoolSharing::Complete;
    }
    /// Reserve for arrivals at a port after it has requested a pause, bytes: 3 * rate * delay.
    virtual uint64_t Headroom(double rateBps, Picos delay) const;
    /// Shift of the threshold of a port that is `ratio` times as fast as a host.
    virtual uint32_t Doublings(double ratio) const;
    /// Source of random marks and losses, in a network of `nodes` nodes.
    virtual std::unique_ptr<RandomSource> MakeRandomSource(uint64_t nodes) const;
    virtual std::unique_ptr<EcnMarker>
    MakeMarker(const EcnConfig& config, double rateBps, RandomSource& random) const
    {
        return std::make_unique<EcnMarker>(config, rateBps, random);
    }
    virtual Ptr<Nic> MakeNic(NetworkContext& network, uint32_t nodeId) const;
    virtual std::unique_ptr<NextHopOrder> MakeNextHopOrder(const Graph&) const
    {
        return std::make_unique<NextHopOrder>();
    }

    /// Ratio of quantised telemetry's units to those at 25 Gb/s. Bytes sent are counted by no more than a full packet:
    /// in larger units most ACKs would report an idle port, and HPCC leave out those intervals.
    virtual uint32_t TelemetryUnit(double hostRateBps, uint32_t frameBytes) const;
    /// Standalone completion time of a message on its path at line rate, without telemetry, whose cost depends on the
    /// controller: a lower bound for any flow. \param ackEvery packets per ACK: with several, only the last ACK counts
    virtual Picos Standalone(uint64_t sizeBytes,
                             const PathFacts& facts,
                             const Hops& forward,
                             const Hops& backward,
                             uint32_t ackEvery) const;
    /// Largest window, bytes: `largestOfPath` is the largest RTT * slowest link of any two hosts' path.
    virtual double MaxBdp(const PathFacts& facts, double) const
    {
        return BdpBytes(facts.maxBaseRtt, facts.hostRateBps);
    }
    /// Reports whether the product of BDP and rate, from which HPCC makes a window, is truncated to 64 bits.
    virtual bool WrapsWindows() const { return false; }
    /// Reports whether the path of a controller that reads switches' records may have more records than fit in a
    /// packet, which then carries none.
    virtual bool DropsLongRecords() const { return false; }
    virtual GoBackN Recovery(Picos baseRtt) const { return {.nackInterval = 2 * baseRtt}; }
    /// Retransmission timeout if a scenario sets none: `safe` is longer than any packet or ACK is in flight.
    virtual Picos Timeout(Picos safe) const { return safe; }
    /// Starts a flow at its start time.
    virtual void Start(const std::function<void()>& flow) const;
    /// Prepares a flow's controller before the flow exists.
    virtual void Prepare(CongestionControl& control) const;
};

} // namespace ns3::env::rdma
