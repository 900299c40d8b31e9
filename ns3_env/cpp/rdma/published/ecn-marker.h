// SPDX-License-Identifier: GPL-2.0-or-later
// ECN marking of the published simulator, which decides on ACKs and marked packets too.
#ifndef NS3_ENV_RDMA_PUBLISHED_ECN_MARKER_H
#define NS3_ENV_RDMA_PUBLISHED_ECN_MARKER_H

#include "ns3_env/cpp/rdma/network/ecn-marker.h"

namespace ns3::env::rdma::published
{

/// Decides on ACKs and marked packets too, which has no effect but to take a number of the source.
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

} // namespace ns3::env::rdma::published

#endif // NS3_ENV_RDMA_PUBLISHED_ECN_MARKER_H
