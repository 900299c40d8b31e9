// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA network of one episode with its flows, from its hosts to its records.
#pragma once

#include "failures.h"

#include "ns3_env/cpp/rdma/references/flow-schedule.h"
#include "ns3_env/cpp/rdma/switch/port-meter.h"
#include "ns3_env/cpp/run/episode.h"
#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env::rdma
{

/// The streams of one network. Ids continue after those of its flows, so that all differ.
class Streams
{
  public:
    /// `fabric` must outlive this. \throws ScenarioError if there is no path.
    Streams(const Scenario& scenario, const Fabric& fabric);

    Streams(Streams&&) = delete;

    /// Schedules the start of each.
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

/// One episode's network; its simulation (EventLoop) outlives it.
class RdmaEpisode final : public Episode
{
  public:
    /// \throws ScenarioError
    RdmaEpisode(Scenario scenario, FlowHook onCreate);
    ~RdmaEpisode() override;

    NetworkContext& Context() { return m_fabric.Context(); }
    const NetworkContext& Context() const { return m_fabric.Context(); }

    const std::vector<std::pair<uint32_t, Ptr<Switch>>>& Switches() const
    {
        return m_fabric.Switches();
    }
    const std::vector<Ptr<Nic>>& Nics() const
    {
        return m_fabric.Nics();
    } ///< by node id; null for switches
    /// Every port, by node and index.
    std::vector<Port*> Ports() const { return m_fabric.Ports(); }
    const Streams& GetStreams() const { return m_streams; }

    void ForEachQueue(const QueueVisitor& visit) const override;
    void ForEachHostPort(const QueueVisitor& visit) const override;
    std::vector<std::pair<uint32_t, uint32_t>> RouteOf(const Flow& flow) const override;
    std::vector<LossRecord> LossRecords() const override;
    StreamCounts CountsOf(size_t stream) const override { return m_streams.Of(stream); }
    RunTotals Totals() const override;
    /// A sentence if pauses wait for each other in a circle, or if concurrent flows to one host had minimum rates
    /// (`min_rate_bps`) that exceed its link: no controller could have emptied the queue. Empty otherwise. After the
    /// run.
    std::string Warning() const override;
    std::vector<MarkingPort*> PortsUnderAgents() const override;
    PauseCircle FindPauseCircle() const override;
    void TraceWindowAndRate(const WindowAndRateCallback& report) override;
    void TraceEvents(const MarkCallback& marked, const PauseCallback& paused) override;
    std::unique_ptr<Capture> MakeCapture() override;

    // --- Frames of other stacks
    /// Their carriers have ids from here on.
    static constexpr uint32_t FIRST_OTHER = 1U << 31;
    /// A path for packets that the caller makes. \throws ScenarioError if there is none
    std::unique_ptr<QueuePair> ConnectOther(const FlowSpec& spec, uint16_t sourcePort) const;
    using FrameMaker = std::function<std::vector<uint8_t>(const Packet&)>;
    /// Sets the maker of frames for captures; it returns no bytes for an unknown packet.
    void SetOtherFrames(FrameMaker make) { m_otherFrames = std::move(make); }
    std::vector<uint8_t> OtherFrame(const Packet& packet) const { return m_otherFrames(packet); }

    /// Payload bytes that senders put on the wire, retransmissions and streams included.
    uint64_t TransmittedPayload() const
    {
        return TransmittedByFlows() + m_streams.TransmittedPayload();
    }
    /// Payload bytes of data packets that reached a host.
    uint64_t DeliveredPayload() const { return m_fabric.DeliveredPayload(); }

  private:
    std::unique_ptr<Flow> Connect(const FlowEntry& entry, uint16_t sourcePort) override;
    const Racks* GetRacks() const override { return m_fabric.GetRacks(); }
    void StartFlow(Flow& flow) override;
    void OnRunBegins() override;
    void OnRunEnds() override;
    void MeterPorts(const PortAgents& agents);

    Fabric m_fabric;
    Streams m_streams;
    std::vector<std::unique_ptr<PortMeter>> m_meters; ///< of ports under agents
    std::unique_ptr<Failures> m_failures;             ///< null if no link ever fails
    std::map<Order, FlowSchedule> m_schedules;        ///< of flows under clairvoyant controllers
    FrameMaker m_otherFrames;
};

} // namespace ns3::env::rdma
