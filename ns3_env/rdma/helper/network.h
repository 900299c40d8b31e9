// SPDX-License-Identifier: GPL-2.0-or-later
// How do flows live on a network, from their start to their record?
#ifndef RDMA_NETWORK_H
#define RDMA_NETWORK_H

#include "fabric.h"
#include "scenario.h"
#include "streams.h"

#include "ns3/traced-callback.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ns3::rdma
{

/// One row of flows.csv, and what the flow's packets have in their headers.
struct FlowRecord
{
    uint16_t sourcePort{0}; ///< UDP
    Picos end{-1};          ///< -1: unfinished
    Picos standalone{0};    ///< -1: endless
    Picos baseRtt{0};
    uint32_t headerBytes{0}; ///< of a data packet, telemetry included
    uint64_t ackedBytes{0};
    uint64_t retransmittedBytes{0};
    Picos pause{0};
    uint64_t timeouts{0};
};

/// What happens on a network, for those who record it.
struct NetworkTraces
{
    TracedCallback<> begin;                    ///< the run begins
    TracedCallback<QueuePair&> created;        ///< a flow exists and will start now
    TracedCallback<> allStarted;               ///< no flow is left to start
    TracedCallback<const QueuePair&> finished; ///< a flow has ended; it is live still
    TracedCallback<const QueuePair&> over;     ///< a flow has ended or was cut, and is recorded
    TracedCallback<> ended; ///< the run is over; flows that are cut are live still
};

/// One episode's network. One at a time in a process (an ns-3 rule); Simulator::Destroy comes after it.
class Network
{
  public:
    /// Called for each flow when it is created, before it starts.
    using FlowHook = std::function<void(QueuePair&, const FlowEntry&)>;

    /// \throws ScenarioError
    Network(Scenario scenario, FlowHook onCreate);
    ~Network();

    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Simulates until every flow that has an end is done, or the time limit is reached.
    void Run();
    /// Ends the run from within, at the current time.
    void Stop();
    /// Called at the end of the run while live flows still exist.
    void SetCutHook(std::function<void(Picos)> hook) { m_onCut = std::move(hook); }

    NetworkTraces& Traces() { return m_traces; }
    const Scenario& GetScenario() const { return m_scenario; }
    NetworkContext& Context() { return m_fabric.Context(); }
    const NetworkContext& Context() const { return m_fabric.Context(); }
    /// Flows that have started and not finished, in the order they started.
    const std::vector<QueuePair*>& LiveFlows() const { return m_live; }

    const std::vector<FlowRecord>& Records() const { return m_records; }
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
    Picos EndTime() const { return m_endTime; }
    /// Of the flows that have an end.
    uint64_t Unfinished() const { return m_withEnd - m_finished; }
    const Streams& GetStreams() const { return m_streams; }

    /// Payload bytes that senders put on the wire, retransmissions and streams included.
    uint64_t TransmittedPayload() const;
    /// Payload bytes of data packets that reached a host.
    uint64_t DeliveredPayload() const { return m_fabric.DeliveredPayload(); }

  private:
    void StartDueFlows();
    void StartFlow(QueuePair& flow);
    std::unique_ptr<QueuePair> CreateFlow(const FlowEntry& entry);
    void OnFinished(QueuePair& flow);
    void Record(const QueuePair& flow);
    void SweepRetired();
    void Cut();

    Scenario m_scenario;
    NetworkTraces m_traces;
    FlowHook m_onCreate;
    std::function<void(Picos)> m_onCut;
    Fabric m_fabric;
    Streams m_streams;

    std::vector<uint32_t> m_order; ///< flows by start time
    size_t m_nextStart{0};
    std::map<std::pair<uint32_t, uint32_t>, uint16_t> m_portCount; ///< flows so far per host pair
    std::vector<QueuePair*> m_live;
    std::map<uint32_t, std::unique_ptr<QueuePair>> m_flows; ///< live and retired, by id
    std::vector<uint32_t> m_retired; ///< finished, perhaps with duplicates still on the network
    size_t m_withEnd{0};             ///< flows that are not endless
    size_t m_finished{0};

    std::vector<FlowRecord> m_records;
    uint64_t m_transmittedPayload{0};
    Picos m_endTime{0};
    bool m_ended{false};
};

} // namespace ns3::rdma

#endif // RDMA_NETWORK_H
