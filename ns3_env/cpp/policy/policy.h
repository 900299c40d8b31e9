// SPDX-License-Identifier: GPL-2.0-or-later
// Trained policy, read from its file (docs/policy-format.md): observations in, actions out.
#pragma once

#include "action-map.h"
#include "observation.h"
#include "policy-network.h"
#include "safety.h"

#include "ns3_env/cpp/contract/clock-spec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::env
{

/// Memory of a flow: the network's inputs of the last K observations, oldest first, and the state that it carries.
class FlowHistory
{
  public:
    size_t Length() const { return m_length; }
    const float* Inputs() const { return m_inputs.data(); }
    /// Policy::StateWidth() floats, there from the first observation on.
    std::span<float> State() { return m_state; }

  private:
    friend class Policy;
    std::vector<float> m_inputs;
    std::vector<float> m_state;
    size_t m_length{0};
};

/// Not thread-safe.
class Policy
{
  public:
    /// \throws ScenarioError naming the file and the error
    explicit Policy(const std::string& path);

    /// The observation fields that it needs.
    const std::vector<Field>& Fields() const { return m_observation->Fields(); }
    size_t HistoryLength() const { return m_historyLength; }
    /// Floats that a flow carries from decision to decision (PolicyNetwork::StateWidth).
    size_t StateWidth() const { return m_network->StateWidth(); }
    const ClockSpec& Clock() const { return m_clock; }
    uint32_t TelemetryBytes() const { return m_telemetryBytes; }
    /// Flows of up to this number of BDPs leave at line rate, without decisions.
    double DecidesFromBdps() const { return m_decidesFromBdps; }
    /// Flows of up to this number of BDPs carry no telemetry.
    double TelemetryFromBdps() const { return m_telemetryFromBdps; }
    /// Base RTTs from one packet with telemetry to the next, in longer flows; 0: all packets have it.
    double TelemetryEveryRtts() const { return m_telemetryEveryRtts; }
    const ActionMap& Actions() const { return *m_actions; }
    /// Safety that limits it to situations of its training; null if its file has none.
    const Safety* Secured() const { return m_safety ? &*m_safety : nullptr; }

    /// Adds the flow's present observation.
    void Observe(FlowHistory& history, const ObservationRecord& record) const;
    /// The same, for values in the order of Fields().
    void Observe(FlowHistory& history, std::span<const float> values) const;

    /// The network's outputs for flows that decide together, clipped to [-1, 1]. Call once for each observation: a
    /// flow's recurrent state advances by a step.
    void Decide(std::span<FlowHistory* const> histories, std::span<float> actions);
    /// The same, not cut.
    void Evaluate(std::span<FlowHistory* const> histories, std::span<float> outputs);

  private:
    std::optional<Observation> m_observation; ///< set once the file is read
    size_t m_historyLength{1};
    ClockSpec m_clock;
    uint32_t m_telemetryBytes{0};
    double m_decidesFromBdps{0};
    double m_telemetryFromBdps{0};
    double m_telemetryEveryRtts{0};
    std::optional<Safety> m_safety;
    std::unique_ptr<ActionMap> m_actions;
    std::unique_ptr<PolicyNetwork> m_network;
    std::vector<HistoryView> m_views;
};

} // namespace ns3::env
