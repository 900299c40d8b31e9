// SPDX-License-Identifier: GPL-2.0-or-later
// Runs one episode, with or without agents across the channel.
#include "run-episode.h"

#include "transport.h"

#include "ns3/global-value.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3_env/cpp/channel/simulator-channel.h"
#include "ns3_env/cpp/decision/deciding-flows.h"
#include "ns3_env/cpp/decision/processor-sharing.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/recorders/results.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace ns3::env
{

namespace
{

/// Simulation of an episode, cleared away however it ended.
class SimulationScope
{
  public:
    SimulationScope()
    {
        RngSeedManager::ResetNextStreamIndex();
        EventLoop::Begin();
    }
    ~SimulationScope() { EventLoop::End(); }
    SimulationScope(SimulationScope&&) = delete;
};

} // namespace

Scenario
Transport::Read(std::string json, bool withFlows)
{
    return Scenario::FromJson(
        std::move(json),
        [this](JsonReader& root, Scenario& scenario)
        {
            const std::string requested = root.Has("transport") ? root.Text("transport") : "rdma";
            if (requested != Name())
            {
                throw ScenarioError("'transport' is '" + Shown(requested) + "', and " + Name() +
                                    "-sim simulates " + Title() + ": take " + Shown(requested) +
                                    "-sim");
            }
            ReadKeys(root, scenario);
        },
        withFlows);
}

void
PrepareSimulator()
{
    Time::SetResolution(Time::PS);
    GlobalValue::Bind("SimulatorImplementationType", StringValue("rdma::EventLoop"));
    RngSeedManager::SetSeed(1); // an episode's seed is the run number
}

EpisodeOutcome
RunEpisode(std::string scenarioJson,
           SimulatorChannel* channel,
           Transport& transport,
           const std::function<std::ostream&()>& open)
{
    std::optional<Heartbeat::Listener> listener;
    if (channel != nullptr)
    {
        listener.emplace(channel->Heartbeat());
    }
    Scenario scenario = transport.Read(std::move(scenarioJson));
    scenario.columns &= channel != nullptr; // a file of results is text
    const SimulationScope scope;
    DecidingFlows deciding(scenario, channel);
    const std::unique_ptr<Episode> episode =
        transport.Build(std::move(scenario),
                        [&](Flow& flow, const FlowEntry& entry) { deciding.Adopt(flow, entry); });
    bool horizon = false;               // this process is a copy, and ends before the episode
    std::map<uint32_t, double> sharing; // remaining time then, by flow, ps
    episode->SetCutHook(
        [&](Picos now)
        {
            if (horizon)
            {
                sharing = SharingTimes(episode->LiveFlows());
            }
            deciding.CutAll(*episode, now);
        });
    deciding.Begin(*episode);
    const Recorders recorders(*episode);
    std::unique_ptr<Capture> capture;
    if (episode->GetScenario().pcap)
    {
        capture = episode->MakeCapture();
    }
    deciding.SetCopyHook(
        [&](const CopyTerms& terms)
        {
            EventLoop::GoOnAlone();
            if (terms.untilPs >= 0)
            {
                horizon = true;
                episode->CutAt(terms.untilPs);
            }
            listener.emplace(channel->Heartbeat());
            if (capture)
            {
                capture->Abandon();
                capture.reset();
            }
        });
    episode->Run();
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
        if (open)
        {
            WriteResults(open(), *episode, recorders, sharing);
        }
        else
        {
            outcome.results = ResultsToJson(*episode, recorders, sharing);
        }
        outcome.warning = episode->Warning();
    }
    return outcome;
}

} // namespace ns3::env
