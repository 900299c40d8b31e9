// SPDX-License-Identifier: GPL-2.0-or-later
// The published simulator's deviations, one method each.
#include "rules.h"

#include "ecn-marker.h"
#include "next-hop-order.h"
#include "nic.h"
#include "stream-per-draw.h"

#include "ns3/boolean.h"
#include "ns3/rng-seed-manager.h"
#include "ns3_env/cpp/contract/congestion-control.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma::published
{

namespace
{

// Random streams handed out before the first packet is marked (docs/decisions/0002): of each node's
// protocol stack, and of the loss model.
constexpr uint64_t STREAMS_PER_NODE = 6;
constexpr uint64_t STREAMS_OF_LOSS = 2;

// docs/sources/published-simulator.md, "Known differences"
constexpr Picos NACK_INTERVAL = 500'000 * PS_PER_NS;
constexpr Picos LATE_TIMEOUT = PS_PER_SECOND; // there is none there

} // namespace

PoolSharing
Rules::GetPoolSharing(bool) const
{
    return PoolSharing::Thresholds;
}

uint64_t
Rules::Headroom(double rateBps, Picos delay) const
{
    constexpr uint64_t BITS = 8 * 1'000'000'000ULL; // of a byte in a second of nanoseconds
    return static_cast<uint64_t>(rateBps) * static_cast<uint64_t>(ToNanos(delay)) / BITS * 3;
}

uint32_t
Rules::Doublings(double ratio) const
{
    return static_cast<uint32_t>(std::ceil(std::log2(std::max(1.0, ratio))));
}

std::unique_ptr<RandomSource>
Rules::MakeRandomSource(uint64_t nodes) const
{
    return std::make_unique<StreamPerDraw>(RngSeedManager::GetSeed(),
                                           RngSeedManager::GetRun(),
                                           STREAMS_PER_NODE * nodes + STREAMS_OF_LOSS);
}

std::unique_ptr<rdma::EcnMarker>
Rules::MakeMarker(const EcnConfig& config, double rateBps, RandomSource& random) const
{
    return std::make_unique<EcnMarker>(config, rateBps, random);
}

Ptr<rdma::Nic>
Rules::MakeNic(NetworkContext& network, uint32_t nodeId) const
{
    return CreateObject<Nic>(network, nodeId, m_priorityGroup != ACK_GROUP);
}

std::unique_ptr<env::NextHopOrder>
Rules::MakeNextHopOrder(const Graph& graph) const
{
    return std::make_unique<NextHopOrder>(graph);
}

Picos
Rules::Standalone(uint64_t sizeBytes, const PathFacts& facts, const Hops&, const Hops&) const
{
    const uint64_t packets = (sizeBytes + facts.payloadBytes - 1) / facts.payloadBytes;
    return facts.baseRtt +
           IdealTime(sizeBytes + DATA_HEADER_BYTES * packets, facts.slowestBps, GetRounding());
}

double
Rules::MaxBdp(const PathFacts&, double largestOfPath) const
{
    return largestOfPath;
}

Picos
Rules::NackInterval(Picos) const
{
    return NACK_INTERVAL;
}

Picos
Rules::Timeout(Picos safe) const
{
    return std::max(safe, LATE_TIMEOUT);
}

void
Rules::Start(const std::function<void()>& flow) const
{
    Simulator::ScheduleNow([flow] { Simulator::ScheduleNow(flow); });
}

void
Rules::Prepare(CongestionControl& control) const
{
    control.SetAttributeFailSafe("TimerEvents", BooleanValue(true)); // DCQCN's alone
}

} // namespace ns3::env::rdma::published
