// SPDX-License-Identifier: GPL-2.0-or-later
// Flow state written by hand, for tests of controllers without a network.
#pragma once

#include "flow-state.h"

namespace ns3::env
{

/// The four-to-one dumbbell's facts (docs/sources/published-simulator.md: base RTT 6240 ns, BDP 78000 B at 100 Gb/s), three hops.
inline PathFacts
DumbbellFacts(uint32_t packetBytes, double rateBps = 100e9)
{
    PathFacts facts;
    facts.hostRateBps = rateBps;
    facts.baseRtt = 6240 * PS_PER_NS;
    facts.maxBaseRtt = facts.baseRtt;
    facts.bdpBytes = 6240e-9 * rateBps / 8;
    facts.maxBdpBytes = facts.bdpBytes;
    facts.minRateBps = rateBps / 100;
    facts.packetBytes = packetBytes;
    facts.rounding = Rounding::TruncateNs;
    facts.hops = {{rateBps, 1080 * PS_PER_NS, 5160 * PS_PER_NS},
                  {rateBps, 2160 * PS_PER_NS, 4080 * PS_PER_NS}};
    return facts;
}

class FakeFlow : public FlowState
{
  public:
    explicit FakeFlow(const PathFacts& facts, uint64_t sizeBytes = 1'000'000'000)
    {
        m_path = &facts;
        m_sizeBytes = sizeBytes;
        m_pacing.SetPath(facts, facts.hostRateBps);
        // A packet has just left, and the next one may at time 0.
        m_pacing.OnSent(facts.packetBytes,
                        -SerialisationTime(facts.packetBytes, facts.hostRateBps, facts.rounding));
    }

    void Sent(uint64_t bytes) { m_sentBytes = bytes; }
    void Acked(uint64_t bytes) { m_ackedBytes = bytes; }
};

} // namespace ns3::env
