// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA's part of a scenario and of the program rdma-sim.
#pragma once

#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/program/transport.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ns3::env::rdma
{

/// Marking and congestion points as a scenario's "switch" has them; null if they are off.
nlohmann::json ToJson(const EcnConfig& ecn);
nlohmann::json ToJson(const CongestionPointConfig& points);

/// "rdma": RoCEv2 over switches with PFC.
class RdmaTransport final : public Transport
{
  public:
    RdmaTransport()
        : Transport("rdma", "RDMA (RoCEv2)")
    {
    }

    /// --plugin and --check.
    void AddOptions(CommandLine& command) override;
    std::optional<int> Obey() override;
    std::vector<std::string> Controllers() const override { return ListControllers(); }
    /// `ecn` is the marking behind `switch.ecn: auto` (keys as in a scenario's `switch.ecn`), null if the controller
    /// ignores marks.
    std::string Describe() const override;
    /// The switches, timing, and the sender's limits.
    void ReadKeys(JsonReader& root, Scenario& scenario) override;
    std::unique_ptr<Episode> Build(Scenario scenario, Episode::FlowHook onCreate) override;

  private:
    bool m_check{false};
    std::vector<std::string> m_plugins;
};

} // namespace ns3::env::rdma
