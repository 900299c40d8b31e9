// SPDX-License-Identifier: GPL-2.0-or-later
// Schedule of a network's live flows: links for senders that know them all.
#pragma once

#include "ns3_env/cpp/engine/flow.h"
#include "ns3_env/cpp/fluid/allocation.h"
#include "ns3_env/cpp/run/episode.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::env::rdma
{

/// Order in which flows get links.
enum class Order : uint8_t
{
    Remaining, ///< least bytes to send first (SRPT)
    Slowdown, ///< least product of bytes to send and ideal completion time first: for the mean slowdown
    Fair,     ///< all at once, at max-min fair rates
};

/// Gives the live flows under one sort of clairvoyant controllers their rates, at each start, end and last packet of a
/// flow. Flows under other controllers have their place in the order, and send as they do. A flow needs its links until
/// its last packet leaves, so that the next flow follows without a round trip between them.
class FlowSchedule
{
  public:
    /// `episode` outlives it.
    FlowSchedule(Episode& episode, Order order);

    FlowSchedule(FlowSchedule&&) = delete;

    /// Schedules new rates, for after all events of this instant.
    void Change();

  private:
    void OnCreated(Flow&) { Change(); }
    void OnFinished(const Flow&) { Change(); }
    void Share();
    /// Flows with bytes to send, in the order in which they get links.
    std::vector<Flow*> Waiting() const;
    /// Rates on these routes, of which the first `ordered` get links one after the other; the rest share the remainder.
    std::vector<double> RatesOf(const FluidRoutes& routes, size_t ordered) const;
    /// Links of the flow's path, as indices into m_capacities.
    FluidRoute LinksOf(const PathFacts& path);

    const Episode& m_episode;
    Order m_order;
    std::unordered_map<uint64_t, uint32_t> m_index; ///< of links of flows so far, by id
    std::vector<double> m_capacities;               ///< of these links, bit/s
    bool m_changed{false};
};

} // namespace ns3::env::rdma
