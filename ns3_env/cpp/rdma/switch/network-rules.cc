// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of a network left open by physics, with the default preset's choices.
#include "network-rules.h"

#include "ns3_env/cpp/routing/routing.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

uint64_t
NetworkRules::Headroom(double rateBps, Picos delay) const
{
    const double seconds = static_cast<double>(delay) / PS_PER_SECOND;
    return static_cast<uint64_t>(3.0 * rateBps / 8.0 * seconds);
}

uint32_t
NetworkRules::Doublings(double ratio) const
{
    return static_cast<uint32_t>(std::log2(std::max(1.0, ratio)));
}

std::unique_ptr<RandomSource>
NetworkRules::MakeRandomSource(uint64_t) const
{
    return std::make_unique<OneStream>();
}

uint32_t
NetworkRules::TelemetryUnit(double hostRateBps, uint32_t frameBytes) const
{
    const double scale = hostRateBps / TELEMETRY_REFERENCE_BPS;
    return static_cast<uint32_t>(std::max(1.0, std::min(scale, 1.0 * frameBytes / TX_UNIT_BYTES)));
}

Picos
NetworkRules::Standalone(uint64_t sizeBytes,
                         const PathFacts& facts,
                         const Hops& forward,
                         const Hops& backward,
                         uint32_t ackEvery) const
{
    const uint64_t packets = (sizeBytes + facts.payloadBytes - 1) / facts.payloadBytes;
    const uint64_t last = sizeBytes - (packets - 1) * facts.payloadBytes;
    if (ackEvery > 1)
    {
        Pipeline data{&forward};
        data.Pass({facts.payloadBytes + DATA_HEADER_BYTES}, packets - 1);
        data.Pass({last + DATA_HEADER_BYTES});
        Pipeline ack{&backward};
        ack.Pass({AckBytes(0)});
        return data.Arrival() + ack.Arrival();
    }
    Pipeline links{&forward, &backward};
    links.Pass({facts.payloadBytes + DATA_HEADER_BYTES, AckBytes(0)}, packets - 1);
    links.Pass({last + DATA_HEADER_BYTES, AckBytes(0)});
    return links.Arrival();
}

void
NetworkRules::Start(const std::function<void()>& flow) const
{
    flow();
}

void
NetworkRules::Prepare(CongestionControl&) const
{
}

} // namespace ns3::env::rdma
