// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of a transport: all that differs between the simulators of RDMA and of TCP.
#pragma once

#include "ns3_env/cpp/run/episode.h"
#include "ns3_env/cpp/run/scenario.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
class CommandLine;
}

namespace ns3::env
{

class JsonReader;

class Transport
{
  public:
    /// \param name as a scenario's "transport" has it; its program is NAME-sim
    /// \param title in words
    Transport(std::string name, std::string title)
        : m_name(std::move(name)),
          m_title(std::move(title))
    {
    }
    virtual ~Transport() = default;

    const std::string& Name() const { return m_name; }
    const std::string& Title() const { return m_title; }

    // --- Of its program
    /// Options that no other program has.
    virtual void AddOptions(CommandLine&) {}
    /// Carries them out. \returns an exit code if nothing else is to be done \throws ScenarioError
    virtual std::optional<int> Obey() { return {}; }
    /// The names of its congestion controllers, sorted.
    virtual std::vector<std::string> Controllers() const = 0;
    /// Declarations of these controllers, as JSON: an object for each, by name.
    virtual std::string Describe() const = 0;

    // --- Of an episode
    /// Reads the keys of a scenario that only this transport has; its nodes and links are already read.
    /// \throws ScenarioError
    virtual void ReadKeys(JsonReader& root, Scenario& scenario) = 0;
    /// The network of the scenario that was read last, with its flows. \throws ScenarioError
    virtual std::unique_ptr<Episode> Build(Scenario scenario, Episode::FlowHook onCreate) = 0;

    /// A scenario of this transport (Scenario::FromJson). \throws ScenarioError
    Scenario Read(std::string json, bool withFlows = true);

  private:
    std::string m_name;
    std::string m_title;
};

} // namespace ns3::env
