// SPDX-License-Identifier: GPL-2.0-or-later
#include "episode.h"

#include "deciding-flows.h"
#include "transport.h"

#include "ns3/global-value.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3_env/cpp/channel/simulator-channel.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/recorders/recorders.h"
#include "ns3_env/cpp/recorders/results.h"

#include <memory>
#include <optional>
#include <vector>

namespace ns3::env
{

namespace
{

/// Clears the process for the next episode, however this one ended.
class SimulationScope
{
  public:
    SimulationScope() { RngSeedManager::ResetNextStreamIndex(); }
    ~SimulationScope() { Simulator::Destroy(); }
    SimulationScope(const SimulationScope&) = delete;
    SimulationScope& operator=(const SimulationScope&) = delete;
};

} // namespace

void
PrepareSimulator()
{
    Time::SetResolution(Time::PS);
    GlobalValue::Bind("SimulatorImplementationType", StringValue("rdma::EventLoop"));
    RngSeedManager::SetSeed(1); // an episode's seed is the run number
}

EpisodeOutcome
RunEpisode(const std::string& scenarioJson, SimulatorChannel* channel, Transport& transport)
{
    std::optional<Heartbeat::Listener> listener;
    if (channel != nullptr)
    {
        listener.emplace(channel->Heartbeat());
    }
    Scenario scenario = transport.Read(scenarioJson);
    const SimulationScope scope;
    DecidingFlows deciding(scenario, channel);
    const std::unique_ptr<FlowRun> run = transport.Build(std::move(scenario),
                                                         [&](LiveFlow& flow, const FlowEntry& entry)
                                                         { deciding.Adopt(flow, entry.slot); });
    run->SetCutHook([&](Picos now) { deciding.CutAll(*run, now); });
    deciding.StartClocks(*run);
    const Recorders recorders(*run);
    std::unique_ptr<Capture> capture;
    if (run->GetScenario().pcap)
    {
        capture = run->MakeCapture();
    }
    run->Run();
    if (capture)
    {
        capture->Close();
    }

    EpisodeOutcome outcome;
    deciding.Flush(); // rows of the last instant
    outcome.reset = deciding.Interrupted() == Interruption::Reset;
    outcome.close = deciding.Interrupted() == Interruption::Close;
    if (!outcome.reset && !outcome.close)
    {
        outcome.results = ResultsToJson(*run, recorders);
        outcome.warning = run->Warning();
    }
    return outcome;
}

} // namespace ns3::env
