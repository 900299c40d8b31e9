// SPDX-License-Identifier: GPL-2.0-or-later
// The flows and ports of an episode under policies, one group of flows with its clock for each policy.
#include "deciding-flows.h"

#include "policy-decider.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"

#include <utility>

namespace ns3::env
{

namespace
{

const std::string NO_FILE;                   ///< file name of the policy across the channel
const std::string POLICY_OF_FILE = "policy"; ///< users' name of PolicyController
const std::string ACROSS = "agent";          ///< users' name of AgentController

bool
IsOn(const CongestionControl& control, const std::string& flag)
{
    BooleanValue on;
    control.GetAttribute(flag, on);
    return on.Get();
}

/// Refuses a policy that observes fields without a source on this network.
void
RefuseUnknown(const std::vector<Field>& fields, const std::string& file, bool inBandTelemetry)
{
    std::string unknown;
    for (const Field field : fields)
    {
        const FieldSpec& spec = ObservationFields()[static_cast<size_t>(field)];
        if (spec.source == FieldSource::Port ||
            (!inBandTelemetry && !KnownWithoutSwitches(spec.source)))
        {
            unknown.append(unknown.empty() ? "" : ", ").append(spec.name);
        }
    }
    if (!unknown.empty())
    {
        throw ScenarioError(
            "attributes.File",
            "policy '" + Shown(file) +
                "' observes fields that switches do not report to flows of this network: " +
                unknown);
    }
}

} // namespace

DecidingFlows::DecidingFlows(const Scenario& scenario, SimulatorChannel* channel)
    : m_seed(scenario.seed),
      m_feedback(scenario.congestionPoints.enabled),
      m_inBandTelemetry(scenario.inBandTelemetry),
      m_jobCosts(scenario.dependencies ? scenario.dependencies->job : std::vector<int32_t>{})
{
    if (channel != nullptr)
    {
        m_channel.emplace(*channel);
        AddGroup(NO_FILE, std::make_unique<ChannelDecider>(*m_channel), scenario.clock);
    }
    if (scenario.recordTransitions)
    {
        if (!m_channel)
        {
            throw ScenarioError("record.transitions",
                                "needs a process across the channel that receives them");
        }
        m_log.emplace(*m_channel);
    }
    for (size_t i = 0; i < scenario.controllers.size(); ++i)
    {
        const ControllerSpec& spec = scenario.controllers[i];
        if (spec.name == POLICY_OF_FILE)
        {
            Within(ControllerKey(i), [&] { AddPolicy(spec); });
        }
        if (spec.name == POLICY_OF_FILE || spec.name == ACROSS)
        {
            Within(ControllerKey(i),
                   [&]
                   {
                       const Ptr<CongestionControl> control = CreateController(spec);
                       m_gains |= IsOn(*control, "SharingGain");
                       m_jobs |= IsOn(*control, "JobCost");
                   });
        }
    }
}

DecidingFlows::~DecidingFlows()
{
    PolicyCache::Clear();
}

void
DecidingFlows::AddPolicy(const ControllerSpec& spec)
{
    const Ptr<CongestionControl> control = CreateController(spec);
    StringValue named;
    control->GetAttribute("File", named);
    const std::string file = named.Get();
    if (file.empty())
    {
        throw ScenarioError("attributes.File",
                            "controller 'policy' needs the attribute 'File', a policy's file");
    }
    if (m_groups.contains(file))
    {
        return;
    }
    Policy& policy = Within("attributes.File", [&]() -> Policy& { return PolicyCache::Get(file); });
    RefuseUnknown(policy.Fields(), file, m_inBandTelemetry);
    AddGroup(file,
             std::make_unique<PolicyDecider>(policy, m_seed, m_log ? &*m_log : nullptr),
             policy.Clock());
}

void
DecidingFlows::AddGroup(const std::string& file,
                        std::unique_ptr<Decider> decider,
                        const ClockSpec& clock)
{
    Decider& answers = *decider;
    m_groups.emplace(
        file,
        Group{std::move(decider), clock, DecisionBroker(answers, clock.quantum, true)});
}

void
DecidingFlows::Adopt(Flow& flow, const FlowEntry& entry)
{
    if (m_gains)
    {
        m_sharingGains.OnStart(flow, flow.StartTime());
    }
    if (m_jobs)
    {
        m_jobCosts.OnStart(flow, flow.StartTime());
    }
    auto* controller = dynamic_cast<DecidingController*>(&flow.Controller());
    if (controller == nullptr)
    {
        return;
    }
    const auto group = m_groups.find(controller->PolicyFile());
    if (group == m_groups.end())
    {
        throw ScenarioError("controllers",
                            "controller 'agent' needs a policy across the channel; "
                            "name a controller of the simulator's own");
    }
    if (group->second.clock.onNotification && !m_feedback)
    {
        throw ScenarioError(
            "switch.congestion_points",
            "the clock 'per_notification' waits for feedback frames, and no switch sends any: give "
            "some, such as {feedback: both}, as policies declare none");
    }
    Group& own = EventLoop::IsDivided() && group->first != NO_FILE
                     ? GroupAt(group->first, group->second.clock, entry.flow.source)
                     : group->second;
    own.decider->Adopt(flow.Id(), *controller);
    controller->Connect(own.broker,
                        flow,
                        entry,
                        own.clock,
                        m_inBandTelemetry,
                        m_sharingGains,
                        m_jobCosts);
    m_members[flow.Id()] = {controller, &group->second, entry.flow.source};
}

DecidingFlows::Group&
DecidingFlows::GroupAt(const std::string& file, const ClockSpec& clock, uint32_t host)
{
    const auto found = m_hostGroups.find({file, host});
    if (found != m_hostGroups.end())
    {
        return found->second;
    }
    auto decider = std::make_unique<PolicyDecider>(PolicyCache::Get(file, EventLoop::PartOf(host)),
                                                   m_seed,
                                                   nullptr);
    DecisionBroker broker(*decider, clock.quantum, false);
    return m_hostGroups
        .emplace(std::pair(file, host), Group{std::move(decider), clock, std::move(broker)})
        .first->second;
}

void
DecidingFlows::Begin(Episode& episode)
{
    if (m_gains || m_jobs)
    {
        episode.Traces().finished.ConnectWithoutContext(
            MakeCallback(&DecidingFlows::OnFinished, this));
    }
    for (const auto& [file, group] : m_groups)
    {
        StartClock(&group, &episode);
    }
    if (const auto& agents = episode.GetScenario().portAgents)
    {
        AddPorts(episode, agents->interval);
    }
}

void
DecidingFlows::AddPorts(const Episode& episode, Picos interval)
{
    if (!m_channel)
    {
        throw ScenarioError("switch.ecn_agents",
                            "needs a policy across the channel that sets thresholds; leave it out "
                            "for the constant ones of 'switch.ecn'");
    }
    if (m_log)
    {
        throw ScenarioError("record.transitions",
                            "records flows under policies, and ports share the channel: leave out "
                            "either it or 'switch.ecn_agents'");
    }
    m_portDecider.emplace(*m_channel);
    m_ports.emplace(*m_portDecider, episode.PortsUnderAgents(), interval);
    m_ports->Begin();
}

void
DecidingFlows::OnFinished(const Flow& flow)
{
    m_sharingGains.OnEnd(flow, flow.EndTime());
    m_jobCosts.OnEnd(flow, flow.EndTime());
}

void
DecidingFlows::StartClock(const Group* group, Episode* episode)
{
    if (group->clock.interval)
    {
        Simulator::Schedule(Time(*group->clock.interval),
                            &DecidingFlows::Tick,
                            this,
                            group,
                            episode);
    }
}

void
DecidingFlows::Tick(const Group* group, Episode* episode)
{
    const Picos now = NowPicos();
    for (const Flow* flow : episode->LiveFlows())
    {
        const auto member = m_members.find(flow->Id());
        if (member != m_members.end() && member->second.group == group)
        {
            const Member& due = member->second;
            EventLoop::RunAt(due.source, [&] { due.controller->Decide(now); });
        }
    }
    StartClock(group, episode);
}

void
DecidingFlows::CutAll(const Episode& episode, Picos now)
{
    m_jobCosts.OnCut();
    if (m_ports)
    {
        m_ports->CutAll(now);
    }
    for (const Flow* flow : episode.LiveFlows())
    {
        if (const auto member = m_members.find(flow->Id()); member != m_members.end())
        {
            member->second.controller->OnCut(now);
        }
    }
}

void
DecidingFlows::Flush()
{
    for (auto& [file, group] : m_groups)
    {
        group.broker.Flush();
    }
    for (auto& [place, group] : m_hostGroups)
    {
        group.broker.Flush();
    }
    if (m_ports)
    {
        m_ports->Flush();
    }
    if (m_log)
    {
        m_log->Flush(NowPicos());
    }
}

void
DecidingFlows::SetCopyHook(std::function<void(const CopyTerms&)> hook)
{
    if (m_channel)
    {
        m_channel->SetCopyHook(std::move(hook));
    }
}

} // namespace ns3::env
