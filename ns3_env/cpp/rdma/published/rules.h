// SPDX-License-Identifier: GPL-2.0-or-later
// The published simulator's deviations, one method each.
#pragma once

#include "ns3_env/cpp/engine/random-source.h"
#include "ns3_env/cpp/rdma/switch/ecn-marker.h"
#include "ns3_env/cpp/rdma/switch/network-rules.h"
#include "ns3_env/cpp/routing/graph.h"

#include <array>
#include <cstdint>

namespace ns3::env::rdma::published
{

/// Number k is the first of stream `first + k` of ns-3's generator, MRG32k3a (L'Ecuyer 2002, "An
/// object-oriented random-number package with many long streams and substreams"). Streams lie 2^127 numbers
/// apart, substreams (ns-3's runs) 2^76; stepping from one to the next is one multiplication by a matrix.
class StreamPerDraw final : public RandomSource
{
  public:
    /// \param seed of the generator, at most 4294944442; \param run ns-3's run number.
    StreamPerDraw(uint32_t seed, uint64_t run, uint64_t first);

    double Draw() override;
    /// A PFC frame draws a random number as a marking decision does, and does not use it.
    void OnPfcFrame() override { Draw(); }

  private:
    using State = std::array<uint64_t, 3>;

    State m_first;  ///< of the component modulo 4294967087
    State m_second; ///< of the component modulo 4294944443
};

/// A breadth-first search from the destination, which at each node looks at the neighbour with the highest id
/// first. On regular trees that is descending order of id. The first next hop is the one by which the search
/// reached a node, and its path is the pair's.
class NextHopOrder final : public env::NextHopOrder
{
  public:
    explicit NextHopOrder(const Graph& graph);

    void Sort(std::vector<const Neighbour*>& hops, uint32_t to) override;
    bool FirstPathSpeaks() const override { return true; }

  private:
    /// The place of each node in the search from the host `to`.
    const std::vector<uint32_t>& PlacesTo(uint32_t to);

    const Graph& m_graph;
    std::vector<std::vector<uint32_t>> m_places; ///< by the destination's switch, on demand
};

/// Also decides on ACKs and marked packets: the only effect is a number drawn from the source.
class EcnMarker final : public rdma::EcnMarker
{
  public:
    using rdma::EcnMarker::EcnMarker;

  private:
    bool Decide(const Packet& packet, double probability) override
    {
        const bool hits = Hits(probability);
        return hits && IsMarkable(packet);
    }
};

/// The priority group whose pause stops a host's ACKs, whichever group their flow is in.
inline constexpr uint32_t ACK_GROUP = 3;

/// Rules of the published simulator, to meet its completion times to the nanosecond (docs/decisions/0002).
class Rules final : public NetworkRules
{
  public:
    explicit Rules(uint32_t priorityGroup = ACK_GROUP)
        : m_priorityGroup(priorityGroup)
    {
    }

    /// Times are cut to whole nanoseconds.
    Rounding GetRounding() const override { return Rounding::TruncateNs; }
    /// Events of one instant run in the order in which transmissions began.
    LinkEvents GetLinkEvents() const override { return LinkEvents::PerFrame; }
    /// Headroom is reserved for pauses, and thresholds apply, also without PFC.
    PoolSharing GetPoolSharing(bool) const override { return PoolSharing::Thresholds; }
    /// Cut to whole bytes before it is taken three times.
    uint64_t Headroom(double rateBps, Picos delay) const override;
    /// A part of a doubling counts as one.
    uint32_t Doublings(double ratio) const override;
    /// A new stream for each draw, PFC frames included.
    std::unique_ptr<RandomSource> MakeRandomSource(uint64_t nodes) const override;
    /// A draw for every packet.
    std::unique_ptr<rdma::EcnMarker>
    MakeMarker(const EcnConfig& config, double rateBps, RandomSource& random) const override
    {
        return std::make_unique<EcnMarker>(config, rateBps, random);
    }
    /// A card with one timer, turns by place, and ACKs that pass a pause.
    Ptr<rdma::Nic> MakeNic(NetworkContext& network, uint32_t nodeId) const override;
    /// Next hops as a search finds them; the first path speaks for a pair of hosts.
    std::unique_ptr<env::NextHopOrder> MakeNextHopOrder(const Graph& graph) const override;
    /// Unit in proportion to the rate, though above 200 Gb/s HPCC then overestimates the load of links.
    uint32_t TelemetryUnit(double hostRateBps, uint32_t frameBytes) const override;
    /// Base RTT + bytes and headers, without telemetry, at the slowest link: a packet is serialised twice.
    Picos Standalone(uint64_t sizeBytes,
                     const PathFacts& facts,
                     const Hops& forward,
                     const Hops& backward,
                     uint32_t ackEvery) const override;
    /// Maximum of each path by its slowest link, whichever host sends.
    double MaxBdp(const PathFacts&, double largestOfPath) const override { return largestOfPath; }
    /// HPCC's window wraps if BDP * rate exceeds 64 bits.
    bool WrapsWindows() const override { return true; }
    /// Records that overflow a packet are not read.
    bool DropsLongRecords() const override { return true; }
    /// A NACK is repeated after a fixed time. A duplicate is not answered; one of a flow that ended meets a new receiver, to
    /// which it is a gap. A flow that went back twice resends acknowledged packets: with a window it is blocked (Nic).
    /// Going back leaves a pacing time in the past as it is.
    GoBackN Recovery(Picos baseRtt) const override;
    /// A flow whose last packet is lost resumes very late, long after all other flows, so that it never competes with
    /// them.
    Picos Timeout(Picos safe) const override;
    /// A flow starts two events after its time, in the same nanosecond.
    void Start(const std::function<void()>& flow) const override;
    /// DCQCN's timers are events, ordered among the events of their nanosecond.
    void Prepare(CongestionControl& control) const override;

  private:
    uint32_t m_priorityGroup;
};

} // namespace ns3::env::rdma::published
