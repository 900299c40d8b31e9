// SPDX-License-Identifier: GPL-2.0-or-later
// TCP's part of a scenario and of the program tcp-sim.
#pragma once

#include "ns3_env/cpp/program/transport.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"
#include "ns3_env/cpp/tcp/socket/congestion-ops.h"

#include <string>
#include <vector>

namespace ns3::env::tcp
{

/// "tcp": ns-3's own stack over queue discs.
class TcpTransport final : public Transport
{
  public:
    TcpTransport()
        : Transport("tcp", "TCP")
    {
    }

    std::vector<std::string> Controllers() const override { return ListControllers(); }
    /// `attributes` are ns-3's. `marking` is the threshold behind a queue's `marking: auto`: `threshold_packets` at
    /// `at_rate_bps`, growing with a port's rate, at least `least_packets`; null if the controller ignores marks.
    std::string Describe() const override;
    /// The section "tcp".
    void ReadKeys(JsonReader& root, Scenario& scenario) override;
    std::unique_ptr<Episode> Build(Scenario scenario, Episode::FlowHook onCreate) override;

  private:
    TcpSettings m_settings;
};

} // namespace ns3::env::tcp
