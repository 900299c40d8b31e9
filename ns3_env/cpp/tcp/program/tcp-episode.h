// SPDX-License-Identifier: GPL-2.0-or-later
// TCP network of one episode with its flows, from its hosts to its records.
#pragma once

#include "ns3_env/cpp/run/episode.h"
#include "ns3_env/cpp/tcp/network/fabric.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace ns3::env::tcp
{

/// One episode's network; its simulation (EventLoop) outlives it.
class TcpEpisode final : public Episode
{
  public:
    /// \throws ScenarioError
    TcpEpisode(Scenario scenario, const TcpSettings& settings, FlowHook onCreate);
    ~TcpEpisode() override;

    const Fabric& Net() const { return m_fabric; }

    void ForEachQueue(const QueueVisitor& visit) const override { ForEachPort(true, visit); }
    void ForEachHostPort(const QueueVisitor& visit) const override { ForEachPort(false, visit); }
    std::vector<std::pair<uint32_t, uint32_t>> RouteOf(const Flow& flow) const override;
    std::vector<LossRecord> LossRecords() const override { return m_fabric.LossRecords(); }
    StreamCounts CountsOf(size_t stream) const override { return m_streams.Of(stream); }
    RunTotals Totals() const override;
    void TraceWindowAndRate(const WindowAndRateCallback& report) override;
    void TraceEvents(const MarkCallback& marked, const PauseCallback& paused) override;
    std::unique_ptr<Capture> MakeCapture() override;

  private:
    std::unique_ptr<Flow> Connect(const FlowEntry& entry, uint16_t sourcePort) override
    {
        return m_fabric.Connect(entry.flow, sourcePort, m_scenario.controllers[entry.controller]);
    }
    void OnRunBegins() override { m_streams.Schedule(); }
    void OnRunEnds() override { m_fabric.FinishQueues(EndTime()); }
    void ForEachPort(bool ofSwitches, const QueueVisitor& visit) const;
    void Count(const Flow& flow)
    {
        m_flowPackets += static_cast<const TcpFlow&>(flow).TransmittedPackets();
    }

    struct Marks final : PortObserver
    {
        void OnMarked(const Port&, const Segment& segment) override;

        MarkCallback marked;
        std::unordered_map<FiveTuple, uint32_t, FiveTupleHash, SameFiveTuple> flowOf;
    };

    Fabric m_fabric;
    UdpStreams m_streams;
    uint64_t m_flowPackets{0}; ///< of flows that are recorded
    Marks m_marks;
};

} // namespace ns3::env::tcp
