// SPDX-License-Identifier: GPL-2.0-or-later
// Failures of a network's links over time, and when its switches learn of them.
#pragma once

#include "fabric.h"

#include "ns3_env/cpp/run/path-spec.h"

#include <vector>

namespace ns3::env::rdma
{

/// Failures of links: a link is down while at least one of its outages lasts. Routes are those of the links that were
/// up `convergence` ago.
class Failures
{
  public:
    /// `fabric` and `spec` must outlive this. \throws ScenarioError if two nodes are not joined
    Failures(const Fabric& fabric, const PathSpec& spec);

    Failures(Failures&&) = delete;

    void Schedule();

  private:
    struct Link
    {
        Port* a;
        Port* b;
        int outages{0}; ///< outages in progress
        int known{0};   ///< the same, as known to switches
    };

    void Count(Link& link, int change);
    void Hear(Link& link, int change);

    const PathSpec& m_spec;
    Steering& m_steering;
    std::vector<Link> m_links;
    std::vector<size_t> m_linkOf; ///< by outage
};

} // namespace ns3::env::rdma
