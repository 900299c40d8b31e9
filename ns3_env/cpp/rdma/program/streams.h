// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of constant rate beside the flows of an RDMA network.
#ifndef NS3_ENV_RDMA_PROGRAM_STREAMS_H
#define NS3_ENV_RDMA_PROGRAM_STREAMS_H

#include "fabric.h"

#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <memory>
#include <vector>

namespace ns3::env::rdma
{

/// The streams of one network. Ids go on after those of its flows, so that no two are the same.
class Streams
{
  public:
    /// `fabric` must outlive this. \throws ScenarioError where there is no path.
    Streams(const Scenario& scenario, const Fabric& fabric);

    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// Each will start when its time has come.
    void Schedule();

    StreamCounts Of(size_t stream) const;
    uint16_t SourcePort(size_t stream) const { return m_ports[stream]; } ///< UDP
    /// Payload bytes put on the wire, of all streams.
    uint64_t TransmittedPayload() const;

  private:
    const Fabric& m_fabric;
    std::vector<uint16_t> m_ports;
    std::vector<std::unique_ptr<QueuePair>> m_streams;
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_PROGRAM_STREAMS_H
