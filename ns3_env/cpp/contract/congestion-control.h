// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of congestion controllers: their declaration, and the hooks by which they steer a flow.
#pragma once

#include "flow-state.h"
#include "int-record.h"
#include "switch-config.h"

#include "ns3/object.h"
#include "ns3_env/cpp/contract/contract-id.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::env
{

class DecisionTimes;

/// In-band telemetry (INT) that a controller requests of its packets and of switches.
struct IntRequest
{
    uint32_t wireBytes{
        0}; ///< added to the 48 B of every data packet's headers, and copied into ACKs
    bool hopRecords{false}; ///< switches write an IntRecord per hop
    /// fields are rounded to HPCC's header units (docs/sources/published-simulator.md, "Switch")
    bool quantised{false};
    /// instead: one record for all hops, with only `flows` set: the utilisation of the busiest hop in one byte
    /// (rdma/telemetry/utilisation-byte.h)
    bool oneByte{false};
    /// packets tell how much their flow has left, and switches write how much flows with less have left
    bool shorterBacklog{false};
    /// a packet carries telemetry only if it leaves this many base RTTs after the last one that did; 0: each
    double everyRtts{0};
};

/// An acknowledgement as the sender sees it.
struct AckSample
{
    Picos now{0};                ///< time of arrival
    Picos rtt{0};                ///< now - time the acknowledged packet's transmission began
    uint64_t ackedBytes{0};      ///< cumulative in-order payload at the receiver
    uint64_t newlyAckedBytes{0}; ///< payload that this ACK adds (0 for a duplicate)
    bool ecnMarked{false};       ///< the acknowledged data packet met congestion
    uint32_t way{0}; ///< number of the path that the data used; 0 for a flow with only one
    std::span<const IntRecord> hops{}; ///< one record per switch passed, sender's side first
    Picos shorterBacklog{0}; ///< the largest of all hops, which IntRequest::shorterBacklog asks for
};

/// A layer-2 feedback frame of a switch (QCN, BCN, SMCC).
struct CongestionNotification
{
    Picos now{0};          ///< time of arrival
    double offsetBytes{0}; ///< Q_off = q - q0, in units of 64 B
    double deltaBytes{0};  ///< dQ = q - q_old, likewise
    /// -Fb of Jiang 2015, eq. 1 in levels of 0 to 63, where 63 means q0 (2 w + 1); 0 if Fb >= 0
    uint32_t feedback{0};
    uint32_t congestionPoint{0}; ///< the queue of the feedback
};

/// The congestion controller of one flow. One object per flow, created by name ("rdma::hpcc" is "hpcc" to users).
///
/// A controller writes its flow's window and pacing rate through FlowState and touches nothing else.
/// A new controller is one file in rdma/controllers/, its test and one line of CMake, or a plugin
/// (docs/extending.md); every parameter is an ns-3 attribute. Trace sources show its internal state: states are
/// TracedValue<double>, counters TracedValue<uint64_t>, and a run can record either over time without
/// knowing the controller (recorders/controller-log.h).
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();

    /// The telemetry this controller's packets carry; requested once, before the flow starts.
    virtual IntRequest GetIntRequest() const;

    /// The same of a flow of this size (payload) on this path: a flow sent before any feedback may need none. By
    /// default as GetIntRequest().
    virtual IntRequest GetIntRequestOf(uint64_t sizeBytes, const PathFacts& path) const;

    /// The marking this controller is published with, which `switch.ecn: auto` gives its flows' switches;
    /// not enabled if it ignores marks.
    virtual EcnConfig GetEcnConfig() const;

    /// The switches' feedback this controller is published with, which `switch.congestion_points: auto` gives
    /// its flows' switches; not enabled if it ignores feedback frames.
    virtual CongestionPointConfig GetCongestionPointConfig() const;

    /// Scheduling of packets at ports if `switch.scheduling: auto` leaves it to this controller.
    virtual Scheduling GetScheduling() const;

    /// Reports whether flows of a large network may run under it in several threads at once, each under its own object
    /// (`simulator.threads`). False if such objects share writable state: then one thread runs them all.
    virtual bool IsThreadSafe() const { return true; }

    /// Minimum window (bytes of payload) the controller ever sets; below one packet's the flow is paced.
    virtual double GetWindowFloor(const FlowState& flow) const;

    /// Minimum pacing rate (bit/s) the controller ever sets.
    virtual double GetRateFloor(const FlowState& flow) const;

    /// Called before the first packet. The flow already sends at line rate with an unlimited window.
    virtual void OnFlowStart(FlowState& flow);

    /// Called instead of OnFlowStart() for a flow that another controller has steered until now: continues from the
    /// flow's present window. By default the controller starts anew.
    virtual void OnTakeOver(FlowState& flow, Picos now);

    /// A data packet's transmission starts (also for retransmissions). The rate left here paces the next
    /// one, so a controller with a rate that changes over time updates it here.
    virtual void OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes);

    /// Called for every acknowledgement and every NACK, after the flow's counters were updated, before it may send
    /// again.
    virtual void OnAck(FlowState& flow, const AckSample& ack) = 0;

    /// A switch's feedback frame has arrived.
    virtual void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame);

    /// The receiver saw a gap, and the flow has gone back to it. OnAck() follows, with the fields of the NACK.
    virtual void OnNack(FlowState& flow, Picos now);

    /// A retransmission timeout has passed without an acknowledgement.
    virtual void OnTimeout(FlowState& flow, Picos now);

    /// Called after the last byte was acknowledged.
    virtual void OnFlowEnd(FlowState& flow, Picos now);

    /// Counters worth a row in the run folder, e.g. {"qp_solves", 812}: by flow, and summed over flows.
    virtual std::vector<std::pair<std::string, double>> GetCounters() const;

    /// Durations of the decisions; null if not measured.
    virtual const DecisionTimes* GetDecisionTimes() const;
};

/// Names users may write ("hpcc", "mpcc", ...), sorted; every registered child of CongestionControl.
std::vector<std::string> ListControllers();

} // namespace ns3::env
