// SPDX-License-Identifier: GPL-2.0-or-later
// All shortest paths between two hosts at once, for packets that may each use a different one.
#pragma once

#include "routing.h"

#include <cstdint>
#include <vector>

namespace ns3::env
{

/// Times that no packets of a flow can beat, whichever paths they use.
class Spread
{
  public:
    /// \throws ScenarioError if there is no path.
    Spread(const Routing& routing, uint32_t from, uint32_t to);

    bool IsOnePath() const;
    /// Time of a single frame on the fastest path.
    Picos Travel(uint64_t bytes) const { return Arrival(bytes, 1); }
    /// Time of `count` frames: at each distance the links there share them, between the fastest paths to it and from
    /// it.
    Picos Arrival(uint64_t bytes, uint64_t count) const;
    /// Time of the last frame, which leaves the host behind `count` other frames.
    Picos ArrivalBehind(uint64_t bytes, uint64_t count, uint64_t lastBytes) const;

  private:
    std::vector<Hops> m_layers; ///< links out of the nodes at each distance
};

} // namespace ns3::env
