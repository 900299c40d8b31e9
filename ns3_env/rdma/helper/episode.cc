// SPDX-License-Identifier: GPL-2.0-or-later
#include "episode.h"

#include "deciding-flows.h"
#include "network.h"
#include "pcap.h"
#include "rate-check.h"
#include "recorders.h"
#include "results.h"

#include "ns3/global-value.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3_env/rdma/bridge/simulator-end.h"
#include "ns3_env/rdma/model/sign-of-life.h"

#include <memory>
#include <optional>
#include <vector>

namespace ns3::rdma
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
RunEpisode(const std::string& scenarioJson, SimulatorEnd* channel)
{
    std::optional<SignOfLife::Listener> listener;
    if (channel != nullptr)
    {
        listener.emplace(channel->Heartbeat());
    }
    Scenario scenario = Scenario::FromJson(scenarioJson);
    const SimulationScope scope;
    DecidingFlows deciding(scenario, channel);
    Network network(std::move(scenario),
                    [&](LiveFlow& flow, const FlowEntry& entry)
                    { deciding.Adopt(flow, entry.slot); });
    network.SetCutHook([&](Picos now) { deciding.CutAll(network, now); });
    deciding.StartClocks(network);
    const Recorders recorders(network);
    std::optional<PcapRecorder> pcap;
    if (network.GetScenario().pcap)
    {
        pcap.emplace(network, *network.GetScenario().pcap);
    }
    network.Run();
    if (pcap)
    {
        pcap->Close();
    }

    EpisodeOutcome outcome;
    deciding.Flush(); // rows of the last instant
    outcome.reset = deciding.Interrupted() == Interruption::Reset;
    outcome.close = deciding.Interrupted() == Interruption::Close;
    if (!outcome.reset && !outcome.close)
    {
        outcome.results = ResultsToJson(network, recorders);
        outcome.warning = LeastRateWarning(network);
    }
    return outcome;
}

} // namespace ns3::rdma
