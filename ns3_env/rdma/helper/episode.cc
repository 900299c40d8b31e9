// SPDX-License-Identifier: GPL-2.0-or-later
#include "episode.h"

#include "network.h"
#include "pcap.h"
#include "rate-check.h"
#include "recorders.h"
#include "results.h"

#include "ns3/global-value.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3_env/rdma/bridge/agent-controller.h"
#include "ns3_env/rdma/bridge/decision-broker.h"
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

/// The agents of one episode and their clock.
class AgentSide
{
  public:
    AgentSide(SimulatorEnd& channel, const ClockSpec& clock)
        : m_broker(channel, clock.quantum),
          m_clock(clock)
    {
    }

    void Adopt(AgentController& agent, QueuePair& flow, int32_t slot)
    {
        agent.Connect(m_broker, flow, slot, m_clock.rttFraction);
    }

    /// All live agent flows decide at a fixed interval.
    void StartClock(Network& network)
    {
        if (m_clock.interval)
        {
            Simulator::Schedule(Time(*m_clock.interval), &AgentSide::Tick, this, &network);
        }
    }

    void CutAll(const Network& network, Picos now)
    {
        ForEachAgent(network, [now](AgentController& agent) { agent.OnCut(now); });
    }

    DecisionBroker& Broker() { return m_broker; }

  private:
    template <typename Work>
    static void ForEachAgent(const Network& network, Work work)
    {
        for (QueuePair* flow : network.LiveFlows())
        {
            if (auto* agent = dynamic_cast<AgentController*>(&flow->Control()))
            {
                work(*agent);
            }
        }
    }

    void Tick(Network* network)
    {
        const Picos now = NowPicos();
        ForEachAgent(*network, [now](AgentController& agent) { agent.Decide(now); });
        StartClock(*network);
    }

    DecisionBroker m_broker;
    ClockSpec m_clock;
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
    std::optional<AgentSide> agents;
    if (channel != nullptr)
    {
        agents.emplace(*channel, scenario.clock);
    }
    Network network(std::move(scenario),
                    [&](QueuePair& flow, const FlowEntry& entry)
                    {
                        auto* agent = dynamic_cast<AgentController*>(&flow.Control());
                        if (agent == nullptr)
                        {
                            return;
                        }
                        if (!agents)
                        {
                            throw ScenarioError(
                                "controller 'agent' needs a policy across the channel; "
                                "name a controller that lives in the simulator");
                        }
                        agents->Adopt(*agent, flow, entry.slot);
                    });
    if (agents)
    {
        network.SetCutHook([&](Picos now) { agents->CutAll(network, now); });
        agents->StartClock(network);
    }
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
    if (agents)
    {
        agents->Broker().Flush(); // rows of the last instant
        outcome.reset = agents->Broker().Interrupted() == Interruption::Reset;
        outcome.close = agents->Broker().Interrupted() == Interruption::Close;
    }
    if (!outcome.reset && !outcome.close)
    {
        outcome.results = ResultsToJson(network, recorders);
        outcome.warning = LeastRateWarning(network);
    }
    return outcome;
}

} // namespace ns3::rdma
