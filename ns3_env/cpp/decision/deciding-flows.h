// SPDX-License-Identifier: GPL-2.0-or-later
// The flows and ports of an episode under policies, one group of flows with its clock for each policy.
#pragma once

#include "deciding-ports.h"
#include "decision-broker.h"
#include "episode-channel.h"
#include "job-costs.h"
#include "sharing-gains.h"

#include "ns3_env/cpp/run/episode.h"
#include "ns3_env/cpp/run/scenario.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace ns3::env
{

/// The flows under policies, across the channel or in the simulator, and the ports under the one across the channel.
class DecidingFlows
{
  public:
    /// \param channel from which flows under "agent" get their decisions; null refuses them
    /// \throws ScenarioError if a policy's file is invalid, or transitions have no channel
    DecidingFlows(const Scenario& scenario, SimulatorChannel* channel);
    ~DecidingFlows();

    DecidingFlows(DecidingFlows&&) = delete;

    /// Registers a flow before it starts; a flow without a policy makes no decisions.
    void Adopt(Flow& flow, const FlowEntry& entry);
    /// Starts the clocks that make all flows of a policy, and ports, decide at once, and watches ends of flows.
    void Begin(Episode& episode);
    /// The episode ends here for every live flow.
    void CutAll(const Episode& episode, Picos now);
    /// Submits the collected decisions.
    void Flush();

    Interruption Interrupted() const
    {
        return m_channel ? m_channel->Interrupted() : Interruption::None;
    }

    /// The hook runs in each copy that is made of this process at a decision.
    void SetCopyHook(std::function<void(const CopyTerms&)> hook);

  private:
    /// Flows that share a policy and its clock.
    struct Group
    {
        std::unique_ptr<Decider> decider;
        ClockSpec clock;
        DecisionBroker broker;
    };

    /// A flow's controller, and the group that it is in.
    struct Member
    {
        DecidingController* controller;
        const Group* group; ///< the group in the whole network
        uint32_t source;    ///< host
    };

    void AddPolicy(const ControllerSpec& spec);
    void AddPorts(const Episode& episode, Picos interval);
    void OnFinished(const Flow& flow);
    /// The flows of one host under the policy of `file`, in a divided network; those across the channel stay together.
    Group& GroupAt(const std::string& file, const ClockSpec& clock, uint32_t host);
    void
    AddGroup(const std::string& file, std::unique_ptr<Decider> decider, const ClockSpec& clock);
    void Tick(const Group* group, Episode* episode);
    void StartClock(const Group* group, Episode* episode);

    uint64_t m_seed;
    bool m_feedback;        ///< switches send feedback frames
    bool m_inBandTelemetry; ///< switches report to flows
    std::optional<EpisodeChannel> m_channel;
    std::optional<ChannelDecider> m_portDecider;
    std::optional<DecidingPorts> m_ports;
    std::optional<TransitionLog> m_log;
    bool m_gains{false}; ///< some flow reports gains over processor sharing
    SharingGains m_sharingGains;
    bool m_jobs{false}; ///< some flow reports its cost to its job
    JobCosts m_jobCosts;
    std::map<std::string, Group> m_groups; ///< by the policy's file; "" across the channel
    std::map<std::pair<std::string, uint32_t>, Group> m_hostGroups; ///< by file and host
    std::unordered_map<uint32_t, Member> m_members;                 ///< by flow, live or over
};

} // namespace ns3::env
