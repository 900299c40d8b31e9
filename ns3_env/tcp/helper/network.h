// SPDX-License-Identifier: GPL-2.0-or-later
// What is a TCP network with its flows? One episode's, from its hosts to its records.
#ifndef TCP_NETWORK_H
#define TCP_NETWORK_H

#include "ns3_env/rdma/episode/flow-run.h"
#include "ns3_env/tcp/model/fabric.h"
#include "ns3_env/tcp/model/tcp-settings.h"
#include "ns3_env/tcp/model/udp-streams.h"

#include <cstdint>
#include <memory>

namespace ns3::tcp
{

/// One episode's network. One at a time in a process (an ns-3 rule); Simulator::Destroy comes after it.
class Network final : public rdma::FlowRun
{
  public:
    /// \throws ScenarioError
    Network(rdma::Scenario scenario, const TcpSettings& settings, FlowHook onCreate);
    ~Network() override;

    const Fabric& Net() const { return m_fabric; }

    void ForEachQueue(const QueueVisitor& visit) const override;
    std::vector<rdma::LossRecord> LossRecords() const override;
    rdma::StreamCounts CountsOf(size_t stream) const override { return m_streams.Of(stream); }
    rdma::RunTotals Totals() const override;
    void TraceKnobs(const KnobCallback& tell) override;
    void TraceEvents(const MarkCallback& marked, const PauseCallback& paused) override;
    std::unique_ptr<rdma::Capture> MakeCapture() override;

  private:
    std::unique_ptr<rdma::LiveFlow> Connect(const rdma::FlowEntry& entry,
                                            uint16_t sourcePort) override;
    void OnRunBegins() override;
    void OnRunEnds() override;
    void Count(const rdma::LiveFlow& flow);

    Fabric m_fabric;
    UdpStreams m_streams;
    uint64_t m_flowPackets{0}; ///< of flows that are recorded
    MarkCallback m_marked;
    std::unordered_map<rdma::FiveTuple, uint32_t, FiveTupleHash, SameFiveTuple> m_flowOf;
};

} // namespace ns3::tcp

#endif // TCP_NETWORK_H
