// SPDX-License-Identifier: GPL-2.0-or-later
// An episode: one run of a scenario's flows from start to record, whatever carries their packets.
#pragma once

#include "dependencies-in-parts.h"
#include "dependencies.h"
#include "run-report.h"
#include "scenario.h"

#include "ns3/traced-callback.h"
#include "ns3_env/cpp/engine/flow.h"
#include "ns3_env/cpp/engine/marking-port.h"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env
{

/// RTTs of a flow, at least one.
struct RttSummary
{
    int64_t samples;
    double mean; ///< ps, as all
    Picos p50;
    Picos p99;
    Picos max;
};

/// Data packets of a flow at its receiver (PacketOrder).
struct OrderSummary
{
    uint64_t arrived;
    uint64_t late;
    uint64_t distance;
};

/// One row of flows.csv, and the header fields of the flow's packets.
struct FlowRecord
{
    uint16_t sourcePort{0};
    uint32_t headerBytes{0}; ///< of a data packet, telemetry included
    Picos end{-1};           ///< -1: unfinished
    Picos standalone{0};     ///< -1: endless
    Picos baseRtt{0};
    uint64_t ackedBytes{0};
    uint64_t retransmittedBytes{0};
    Picos pause{0};
    uint64_t timeouts{0};
    uint64_t outOfOrderPackets{0};
    uint64_t duplicateBytes{0};
    std::shared_ptr<const OrderSummary> order; ///< if order is counted
    std::shared_ptr<const RttSummary> rtt;     ///< if the flow records RTTs and has measured one
};

/// Trace sources of an episode, for recorders.
struct EpisodeTraces
{
    TracedCallback<> begin;               ///< the run starts
    TracedCallback<Flow&> created;        ///< a flow exists and will start now
    TracedCallback<> allStarted;          ///< no flow is left to start
    TracedCallback<const Flow&> finished; ///< a flow has ended; it is live still
    TracedCallback<const Flow&> over;     ///< a flow has ended or was cut, and is recorded
    TracedCallback<> ended;               ///< the run is over; flows that are cut are live still
};

/// All flows of a scenario from their start to their record. The network below is the derived class's.
class Episode
{
  public:
    /// Called for each flow when it is created, before it starts.
    using FlowHook = std::function<void(Flow&, const FlowEntry&)>;
    using QueueVisitor = std::function<void(const EgressQueue&)>;
    using WindowAndRateCallback = Callback<void, const FlowState&, Picos>;
    using MarkCallback = std::function<void(uint32_t flow)>;
    using PauseCallback = std::function<void(uint32_t node, uint32_t port, bool paused)>;

    Episode(Scenario scenario, FlowHook onCreate);
    virtual ~Episode();

    Episode(Episode&&) = delete;

    /// Simulates until every flow that has an end is done, or the time limit is reached.
    void Run();
    /// The same if the caller runs the simulator
    /// Schedules the first flows.
    void Begin();
    /// Truncates and records the flows in progress; call once nothing runs any more.
    void End();
    /// Lets neither the last flow's end nor the time limit end the episode. Call before Begin().
    void StayOpen() { m_isOpen = true; }
    /// A flow more, which starts now; its id is the next one. Not of a network with streams, nor one in parts.
    void Add(const FlowEntry& entry);
    /// Passes errors in a flow that is to start to the callback, instead of throwing them through the simulator's
    /// events.
    void SetRefusal(std::function<void(const ScenarioError&)> told) { m_refusal = std::move(told); }
    /// The scenario, to which controllers of added flows can be added.
    Scenario& OpenScenario() { return m_scenario; }
    /// Ends the run from within, at the current time.
    void Stop();
    /// Ends it at this time at the latest, as the time limit does. From within.
    void CutAt(Picos time);
    /// Called at the end of the run while live flows still exist.
    void SetCutHook(std::function<void(Picos)> hook) { m_onCut = std::move(hook); }

    EpisodeTraces& Traces() { return m_traces; }
    const Scenario& GetScenario() const { return m_scenario; }
    /// Flows that have started and not finished, in the order they started.
    const std::list<Flow*>& LiveFlows() const { return m_live; }
    const std::vector<FlowRecord>& Records() const { return m_records; }
    Picos EndTime() const { return m_endTime; }
    /// RTTs of all recorded flows together; null if not recorded.
    const RttSamples* Rtts() const { return m_rtts ? &*m_rtts : nullptr; }
    /// Dependencies of flows; null if no flow waits for another.
    const Dependencies* Waiting() const { return m_dependencies.get(); }
    /// Number of finite flows that have not finished.
    uint64_t Unfinished() const { return m_withEnd - m_finished; }

    // --- The network as recorders see it
    /// The egress queues of all switches, by node and port.
    virtual void ForEachQueue(const QueueVisitor& visit) const = 0;
    /// The ports of all hosts; without statistics.
    virtual void ForEachHostPort(const QueueVisitor& visit) const = 0;
    /// (node, port) of each link of a flow's path, its host's first: if each packet chooses, the path of the flow's
    /// hash.
    virtual std::vector<std::pair<uint32_t, uint32_t>> RouteOf(const Flow& flow) const = 0;
    virtual std::vector<LossRecord> LossRecords() const = 0;
    virtual StreamCounts CountsOf(size_t stream) const = 0;
    virtual RunTotals Totals() const = 0;
    /// The ports under Scenario::portAgents, by node and port.
    virtual std::vector<MarkingPort*> PortsUnderAgents() const { return {}; }
    /// A warning for the reader of the results; "" without one.
    virtual std::string Warning() const { return {}; }
    /// Deadlock of pauses at the end of the run.
    virtual PauseCircle FindPauseCircle() const { return {}; }
    /// `report` is called for each flow that starts, and at each change of a flow's window or rate.
    virtual void TraceWindowAndRate(const WindowAndRateCallback& report) = 0;
    /// `marked` is called for each packet that a switch marks, `paused` for each port that is paused or resumed.
    virtual void TraceEvents(const MarkCallback& marked, const PauseCallback& paused) = 0;
    /// Captures frames as the scenario has it, from now on. \throws ScenarioError
    virtual std::unique_ptr<Capture> MakeCapture() = 0;

  protected:
    /// Both ends of a flow, not started.
    virtual std::unique_ptr<Flow> Connect(const FlowEntry& entry, uint16_t sourcePort) = 0;
    /// Racks of a network that is simulated in parts; null for one that is simulated as a whole.
    virtual const Racks* GetRacks() const { return nullptr; }
    /// Starts a created flow, now or at its start time.
    virtual void StartFlow(Flow& flow) { flow.Start(); }
    /// Called before the first event of the run.
    virtual void OnRunBegins() {}
    /// All flows are recorded.
    virtual void OnRunEnds() {}

    /// Payload bytes that the senders of flows put on the wire, retransmissions included.
    uint64_t TransmittedByFlows() const { return m_transmittedPayload; }
    /// Destroys the flows: a derived class calls it in its destructor if its flows need its members.
    void ForgetFlows();

  private:
    /// A flow and, while it is live, its place among those that are.
    struct Hosted
    {
        std::unique_ptr<Flow> flow;
        uint16_t sourcePort{0};
        std::list<Flow*>::iterator place;
    };

    void MakeDependencies();
    void StartDueFlows();
    /// Time by which flows may be created ahead of their starts, in batches.
    Picos CreatesAhead() const;
    void Start(const FlowEntry& entry);
    void CreateAndStart(const FlowEntry& entry);
    void StartWaiting(uint32_t flow);
    Picos CreateWaiting(uint32_t flow);
    void StartCreated(uint32_t flow);
    void OnStarted(uint32_t flow);
    void ReportAllStarted();
    void OnAllStarted() { m_traces.allStarted(); }
    void CutIfOver();
    Hosted& Create(const FlowEntry& entry);
    void Enter(Hosted& hosted);
    void OnFinished(Flow& flow);
    void Record(const Flow& flow);
    void SweepRetired();
    void Cut();

  protected:
    Scenario m_scenario;

  private:
    EpisodeTraces m_traces;
    FlowHook m_onCreate;
    std::function<void(Picos)> m_onCut;
    std::function<void(const ScenarioError&)> m_refusal;

    std::unique_ptr<Dependencies> m_dependencies;
    std::vector<uint32_t> m_order; ///< flows by start time, but for those that wait
    size_t m_nextStart{0};
    std::map<std::pair<uint32_t, uint32_t>, uint16_t> m_portCount; ///< flows so far per host pair
    std::list<Flow*> m_live;
    std::map<uint32_t, Hosted> m_flows; ///< created, live and retired, by id
    std::vector<uint32_t> m_retired;    ///< finished, perhaps with duplicates still on the network
    size_t m_withEnd{0};                ///< flows that are not endless
    size_t m_finished{0};

    std::vector<FlowRecord> m_records;
    std::optional<RttSamples> m_rtts;
    uint64_t m_transmittedPayload{0};
    Picos m_endTime{0};
    bool m_ended{false};
    bool m_isOpen{false};
};

} // namespace ns3::env
