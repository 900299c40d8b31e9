// SPDX-License-Identifier: GPL-2.0-or-later
// Episode of fluid flows: at each instant every flow has its ideal rate, and no packets are simulated.
#pragma once

#include "fluid-flow.h"
#include "fluid-paths.h"
#include "fluid-streams.h"
#include "sharing.h"

#include "ns3/event-id.h"
#include "ns3_env/cpp/engine/queue-stats.h"
#include "ns3_env/cpp/run/episode.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::env
{

/// A scenario's flows as fluids. Their rates are recomputed whenever a flow starts or ends, a stream starts or stops, or
/// the order of priority changes. A link carries its rate, headers included; nothing waits, nothing is lost, and answers
/// need no capacity.
class FluidEpisode final : public Episode
{
  public:
    /// Creates the transport's paths of a scenario, which outlives them.
    using PathsMaker = std::function<std::unique_ptr<const FluidPaths>(const Scenario&)>;

    /// \throws ScenarioError if links and nodes do not fit together, or a stream has no path
    FluidEpisode(Scenario scenario, Sharing sharing, const PathsMaker& paths, FlowHook onCreate);
    ~FluidEpisode() override;

    void ForEachQueue(const QueueVisitor& visit) const override { ForEachPort(true, visit); }
    void ForEachHostPort(const QueueVisitor& visit) const override { ForEachPort(false, visit); }
    std::vector<std::pair<uint32_t, uint32_t>> RouteOf(const Flow& flow) const override;
    std::vector<LossRecord> LossRecords() const override { return {}; }
    StreamCounts CountsOf(size_t stream) const override { return m_streams.Of(stream); }
    RunTotals Totals() const override;
    void TraceWindowAndRate(const WindowAndRateCallback& report) override { m_report = report; }
    void TraceEvents(const MarkCallback&, const PauseCallback&) override {}
    /// \throws ScenarioError: there are no packets
    std::unique_ptr<Capture> MakeCapture() override;

  private:
    std::unique_ptr<Flow> Connect(const FlowEntry& entry, uint16_t sourcePort) override;
    void StartFlow(Flow& flow) override;
    void OnRunBegins() override
    {
        m_streams.Schedule([this] { Change(); });
    }
    void OnRunEnds() override;

    void ForEachPort(bool ofSwitches, const QueueVisitor& visit) const;
    FluidRoute LinksOf(const Hops& path) const;
    FluidLinks Links() const;
    std::vector<FluidRoute> StreamLinks() const;
    /// Schedules new rates, for after all events of this instant.
    void Change();
    void Share();
    void TakeThrough(Picos now);
    /// Sets all flows' rates. \returns when they next change by themselves
    Picos Allocate(Picos now);
    void AddTo(std::vector<double>& carried, const FluidFlow& flow) const;

    Sharing m_sharing;
    std::unique_ptr<const FluidPaths> m_paths;
    std::vector<uint32_t> m_firstLink; ///< index of each node's first port's
    FluidStreams m_streams;
    std::vector<FluidFlow*> m_running; ///< with fluid left to send, in the order of their starts
    std::vector<double> m_carried;     ///< bytes on the wire by each link, of finished flows
    uint64_t m_delivered{0};           ///< payload bytes of finished flows
    QueueStats m_empty;                ///< of each queue
    WindowAndRateCallback m_report;
    EventId m_next;
    bool m_changed{false};
};

} // namespace ns3::env
