// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts, switches and links of a scenario, and the paths of flows through them.
#pragma once

#include "division.h"
#include "paths.h"

#include "ns3_env/cpp/rdma/host/nic.h"
#include "ns3_env/cpp/rdma/host/queue-pair.h"
#include "ns3_env/cpp/rdma/switch/steering.h"
#include "ns3_env/cpp/rdma/switch/switch.h"
#include "ns3_env/cpp/run/scenario.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::env::rdma
{

/// The network without its flows. The scenario must outlive it.
class Fabric
{
  public:
    /// \throws ScenarioError if links, nodes or buffers do not fit together.
    /// \param division for a simulation in parts; absent: as a whole
    explicit Fabric(const Scenario& scenario, const std::optional<Division>& division = {});

    Fabric(Fabric&&) = delete;

    /// The counts of an undivided network.
    NetworkContext& Context() { return *m_contexts.All().front(); }
    const NetworkContext& Context() const { return *m_contexts.All().front(); }
    /// The counts of each part.
    const std::vector<std::unique_ptr<NetworkContext>>& Contexts() const
    {
        return m_contexts.All();
    }
    bool IsDivided() const { return m_division.has_value(); }
    /// Racks of a divided network; else null.
    const Racks* GetRacks() const { return m_division ? &m_division->racks : nullptr; }
    const std::vector<std::pair<uint32_t, Ptr<Switch>>>& Switches() const { return m_switches; }
    const std::vector<Ptr<Nic>>& Nics() const { return m_nics; } ///< by node id; null for switches
    /// Every port, by node and index.
    std::vector<Port*> Ports() const;
    /// Null if each flow has its route.
    Steering* GetSteering() const { return m_steering.get(); }
    const NetworkRules& Rules() const { return m_paths.Rules(); }

    /// Both ends of a flow, not started. \throws ScenarioError if there is no path.
    std::unique_ptr<QueuePair>
    Connect(const FlowSpec& spec, uint16_t sourcePort, Ptr<CongestionControl> control) const;

    /// Payload bytes of data packets that reached a host.
    uint64_t DeliveredPayload() const;

  private:
    NetworkContext& ContextOf(uint32_t node) const
    {
        return *m_contexts.All()[m_division ? m_division->partOf[node] : 0];
    }
    void SetUpContexts();
    void BuildNodes();
    void AddPort(uint32_t id);
    template <class Kind, class Owner>
    void AddPort(Owner& owner, uint32_t id);
    template <class Kind, class Owner>
    Ptr<SwitchPort> MakePort(Owner& owner, uint32_t id) const;
    Ptr<Switch> MakeSwitch(uint32_t id, const SharedBufferConfig& buffer);
    Ptr<Nic> MakeNic(uint32_t id);
    void ConfigureSwitches();
    uint32_t FrameBytes() const { return m_scenario.payloadBytes + MAX_HEADER_BYTES; }
    void CheckBuffer(uint32_t id, const Switch& sw) const;
    void CheckRecords(const FlowSpec& spec, const Hops& path) const;
    Route PortsOf(const Hops& path) const;
    Port& PortAt(uint32_t node, uint32_t port) const;
    Picos DefaultTimeout() const;

    const Scenario& m_scenario;
    Paths m_paths;
    std::optional<Division> m_division;
    PartContexts m_contexts;
    Picos m_timeout{0};
    std::unique_ptr<Steering> m_steering;

    std::vector<Ptr<Nic>> m_nics;
    std::vector<Ptr<Switch>> m_switchOf; ///< by node id; null for hosts
    std::vector<std::pair<uint32_t, Ptr<Switch>>> m_switches;
};

} // namespace ns3::env::rdma
