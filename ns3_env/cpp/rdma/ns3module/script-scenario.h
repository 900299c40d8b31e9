// SPDX-License-Identifier: GPL-2.0-or-later
// A script's nodes, devices and applications as the scenario that the engine simulates.
#pragma once

#include "rdma-application.h"
#include "rdma-net-device.h"

#include "ns3_env/cpp/rdma/program/rdma-transport.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace ns3::env
{

/// The attributes of an RdmaNetwork, and which nodes are switches.
struct ScriptSettings
{
    uint32_t payloadBytes{0};
    uint64_t bufferBytes{0};
    bool pfc{true};
    uint32_t alphaShift{0};
    uint32_t reserveBytes{0};
    uint32_t resumeOffsetBytes{0};
    uint32_t headroomFrames{0};
    std::string ecn;
    std::string balancing;
    double minRateBps{0};
    Picos retransmissionTimeout{0};
    std::string more;            ///< JSON
    std::set<uint32_t> switches; ///< node ids
};

/// The text of a ScenarioError without the key of the JSON that a script has not: "'name': unknown controller ...".
std::string WithoutKey(const std::string& text);

/// Error of this work; "" without one. To be reported once no exception is in flight.
template <class Work>
std::string
Refused(Work work)
{
    try
    {
        work();
        return {};
    }
    catch (const ScenarioError& error)
    {
        return WithoutKey(error.what());
    }
}

/// "hpcc[Eta=0.9|MaxStage=5]", as ns-3 writes a type with attributes.
ControllerSpec ControllerOf(const std::string& text);

/// A port of the engine's network.
struct PortPlace
{
    uint32_t node;
    uint32_t port;
};

/// The scenario of a script: every node of the simulation has its id, and one that is no part of the RDMA network is a
/// switch without links. Each further card of a host is a node of the engine's after those. Flows are those of all
/// applications, in the order in which these were made.
class ScriptScenario
{
  public:
    /// \param task an environment's additional settings, and attributes of its flows \throws ScenarioError
    ScriptScenario(const ScriptSettings& settings, const nlohmann::json& task);

    /// Reads it as rdma-sim does. \throws ScenarioError
    Scenario Make(rdma::RdmaTransport& transport);
    /// The engine's port of a device that is connected.
    PortPlace PlaceOf(const RdmaNetDevice& device) const { return m_places.at(&device); }
    /// The engine's source node of a flow. \throws ScenarioError
    uint32_t SourceOf(const RdmaApplication& application) const;

    /// The application of each flow.
    const std::vector<Ptr<RdmaApplication>>& Flows() const { return m_flows; }
    /// The device of each port, by the engine's node and port.
    const std::vector<std::vector<Ptr<RdmaNetDevice>>>& Devices() const { return m_devices; }
    /// The cards, by the engine's node; null for switches.
    std::vector<Ptr<RdmaNetDevice>> Cards() const;
    /// Entry of a flow that exists now, or later; its id is the next one. \throws ScenarioError
    FlowEntry EntryOf(const RdmaApplication& application, Scenario& scenario);

  private:
    void FindLinks();
    uint32_t Place(const Ptr<RdmaNetDevice>& device);
    void FindCards();
    bool IsHost(uint32_t node) const;
    nlohmann::json SettingsJson() const;
    void AddEcn(nlohmann::json& content) const;
    double MinRate() const;
    uint64_t Buffer() const;
    double FastestBps() const;
    void AddStream(const RdmaApplication& application, Scenario& scenario);
    FlowSpec SpecOf(const RdmaApplication& application) const;
    std::string ControllerOfFlow(const RdmaApplication& application);
    uint32_t ControllerIndex(const std::string& text, Scenario& scenario);

    const ScriptSettings& m_settings;
    nlohmann::json m_task;
    std::vector<std::vector<Ptr<RdmaNetDevice>>> m_devices;
    std::vector<LinkSpec> m_links;
    std::map<const RdmaNetDevice*, PortPlace> m_places;
    std::map<Address, uint32_t> m_cards; ///< the engine's node of each card
    std::vector<Ptr<RdmaApplication>> m_flows;
    std::vector<Ptr<RdmaApplication>> m_streams;
    std::map<std::string, uint32_t> m_controllers;
    int32_t m_slots{0};
    int32_t m_asked{0}; ///< flows that a script has under "agent"
};

} // namespace ns3::env
