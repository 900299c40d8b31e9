// SPDX-License-Identifier: GPL-2.0-or-later
// Scenario of one episode, as the simulator reads it from JSON.
#pragma once

#include "dependency-spec.h"
#include "link-rates.h"
#include "path-spec.h"
#include "reliability.h"

#include "ns3_env/cpp/contract/clock-spec.h"
#include "ns3_env/cpp/contract/switch-config.h"
#include "ns3_env/cpp/contract/traffic-class.h"
#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/flow-spec.h"
#include "ns3_env/cpp/json/scenario-error.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env
{

class JsonReader;

struct LinkSpec
{
    uint32_t a;
    uint32_t b;
    double rateBps;
    Picos delay;
};

/// The interval [begin, end).
struct TimeSpan
{
    Picos begin;
    Picos end;
};

struct ControllerSpec
{
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;
};

/// Key of one of Scenario::controllers in the JSON.
inline std::string
ControllerKey(size_t index)
{
    return "controllers[" + std::to_string(index) + "]";
}

/// Captured ports, and the file of the capture.
struct PcapSpec
{
    static constexpr uint32_t LONGEST_FRAME = 65535;

    std::string prefix;                                              ///< of the file: PREFIX.pcapng
    std::optional<std::vector<std::pair<uint32_t, uint32_t>>> ports; ///< node, port; absent: all
    uint32_t snapLength{LONGEST_FRAME}; ///< the maximum number of bytes captured of a frame
};

struct FlowEntry
{
    [[no_unique_address]] FlowSpec flow; ///< the next members fit in its padding: flows may be many
    uint32_t controller;                 ///< index into Scenario::controllers
    int32_t slot;                        ///< for an agent's flow, -1 otherwise
    int32_t group{-1};                   ///< index into Scenario::groups, -1 without
};

/// Ports whose thresholds a policy across the channel sets.
struct PortAgents
{
    Picos interval;                                   ///< of decisions
    std::vector<std::pair<uint32_t, uint32_t>> links; ///< from the port's switch to its neighbour
};

/// Background traffic without control.
struct StreamEntry
{
    FlowSpec flow;  ///< without an end
    double rateBps; ///< on the wire
    Picos stop;     ///< NEVER if it does not stop
};

struct Scenario
{
    uint64_t seed{1};
    Picos timeLimit{0};
    bool published{false}; ///< with the published simulator's accidents
    bool inBandTelemetry{
        true}; ///< packets may carry records of switches, and switches may answer them
    std::optional<uint32_t> threads; ///< of a run in parts; absent: one, without parts
    uint32_t payloadBytes{1000};
    std::optional<double> minRateBps; ///< default: 1/100 of the host's link rate
    std::vector<bool> isSwitch;       ///< by node id
    std::map<uint32_t, uint32_t>
        hostOfCard; ///< second and later cards of hosts, nodes here, to host
    std::vector<LinkSpec> links;
    LinkSchedules schedules; ///< of links whose rate and delay change over time
    SharedBufferConfig buffer;
    std::optional<PfcWatchdogConfig> watchdog; ///< of switches' ports; absent: none
    bool trimming{false}; ///< switches cut data packets that they have no room for to their headers
    Scheduling scheduling{Scheduling::Fifo};
    uint32_t priorityGroup{3}; ///< of all packets; switches do not manage group 0
    EcnConfig ecn;
    std::optional<PortAgents> portAgents;
    CongestionPointConfig congestionPoints;
    std::optional<Picos> flowTimeout; ///< count flows by timeout; exactly if absent
    double lossProbability{0};        ///< of each packet on each link
    LinkCorruption corruption;        ///< of links that have their own
    std::optional<PathSpec> paths;    ///< absent: a flow has one path, and links never fail
    bool detours{
        false}; ///< a flow's path goes by the switch of a host that its hash picks (Valiant 1982)
    std::optional<Picos> retransmissionTimeout;           ///< default: from the network's buffers
    std::optional<SelectiveRepeatConfig> selectiveRepeat; ///< absent: go-back-N
    NicConfig nic;
    std::vector<TrafficClass> classes; ///< empty: one, with the settings above
    std::vector<ControllerSpec> controllers;
    ClockSpec clock;
    std::vector<std::string> groups; ///< of flows, by name
    std::vector<FlowEntry> flows;
    std::vector<StreamEntry> streams;
    std::optional<DependencySpec> dependencies; ///< absent: each flow starts at its own time
    bool recordQueues{true};
    bool recordWindows{false};
    bool recordEvents{false};
    bool recordReordering{false};
    bool recordControllerState{false};
    bool recordControllerCounters{false};
    bool recordTransitions{false}; ///< of policies in the simulator, across the channel
    Picos queueSeriesInterval{0};
    Picos filmInterval{0}; ///< of samples of ports and flows; 0: none
    bool columns{false};   ///< windows and series of queues follow the results as plain numbers
    std::optional<TimeSpan> measurement; ///< the time that counts; absent: the whole run
    std::optional<PcapSpec> pcap;

    /// Reads keys that only one transport has.
    using OwnKeys = std::function<void(JsonReader& root, Scenario& scenario)>;

    /// Start of queue statistics: with the time that is measured, or with the first flow.
    Picos CountedFrom() const;

    /// Corruption on the link between two nodes, in this direction.
    Corruption CorruptionOf(uint32_t from, uint32_t to) const;

    /// Schedule of the link between two nodes, in this direction; null if its rate and delay are constant.
    const LinkSchedule* ScheduleOf(uint32_t from, uint32_t to) const;

    /// Rate of the fastest link; 0 without one.
    double FastestBps() const;

    /// Reads and checks a scenario. \throws ScenarioError
    /// \param withFlows false: it specifies neither flows nor controllers, which the caller adds
    static Scenario FromJson(std::string text, const OwnKeys& own, bool withFlows = true);
};

} // namespace ns3::env
