// SPDX-License-Identifier: GPL-2.0-or-later
// The published simulator's deviations, one method each.
#ifndef NS3_ENV_RDMA_PUBLISHED_RULES_H
#define NS3_ENV_RDMA_PUBLISHED_RULES_H

#include "ns3_env/cpp/rdma/network/network-rules.h"

namespace ns3::env::rdma::published
{

/// The priority group whose pause holds a host's ACKs, whichever group their flow is in.
inline constexpr uint32_t ACK_GROUP = 3;

/// What decides where its completion times are to be met to the nanosecond (docs/decisions/0002).
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
    /// Headroom is kept for pauses, and thresholds rule, without PFC as well.
    PoolSharing GetPoolSharing(bool pfc) const override;
    /// Cut to whole bytes before it is taken three times.
    uint64_t Headroom(double rateBps, Picos delay) const override;
    /// A part of a doubling counts as one.
    uint32_t Doublings(double ratio) const override;
    /// A new stream for each draw, PFC frames included.
    std::unique_ptr<RandomSource> MakeRandomSource(uint64_t nodes) const override;
    /// A draw for every packet.
    std::unique_ptr<rdma::EcnMarker>
    MakeMarker(const EcnConfig& config, double rateBps, RandomSource& random) const override;
    /// One timer, turns by place, ACKs that pass a pause.
    Ptr<rdma::Nic> MakeNic(NetworkContext& network, uint32_t nodeId) const override;
    /// Next hops as a search finds them; the first path speaks for a pair of hosts.
    std::unique_ptr<env::NextHopOrder> MakeNextHopOrder(const Graph& graph) const override;
    /// Base RTT + bytes and headers, without telemetry, at the slowest link: a packet is serialised twice.
    Picos Standalone(uint64_t sizeBytes,
                     const PathFacts& facts,
                     const Hops& forward,
                     const Hops& backward) const override;
    /// Each path's by its own slowest link, whichever host sends.
    double MaxBdp(const PathFacts& facts, double largestOfPath) const override;
    /// What overflows a packet's records is not read.
    bool DropsLongRecords() const override { return true; }
    /// A fixed time, whatever the network.
    Picos NackInterval(Picos baseRtt) const override;
    /// A flow whose last packet is lost goes on at last, long after the others, which it would not meet there.
    Picos Timeout(Picos safe) const override;
    /// A duplicate is answered by nothing; one of a flow that ended meets a new receiver, to which it is a gap.
    bool AcknowledgesDuplicates() const override { return false; }
    /// After a second NACK what the receiver has already is sent once more.
    bool SkipsAcknowledged() const override { return false; }
    /// A flow starts two events after its time, in the same nanosecond.
    void Start(const std::function<void()>& flow) const override;
    /// DCQCN's timers are events, and take their turn among those of their nanosecond.
    void Prepare(CongestionControl& control) const override;

  private:
    uint32_t m_priorityGroup;
};

} // namespace ns3::env::rdma::published

#endif // NS3_ENV_RDMA_PUBLISHED_RULES_H
