// SPDX-License-Identifier: GPL-2.0-or-later
// The flows of an episode under policies, one group with its clock for each policy.
#include "deciding-flows.h"

#include "policy-controller.h"
#include "policy-decider.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/now.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/controller-factory.h"

namespace ns3::env
{

namespace
{

const std::string ACROSS_THE_CHANNEL;
const std::string POLICY_OF_FILE = "policy"; ///< users' name of PolicyController

/// Works on the controller of each live flow that decides.
template <typename Work>
void
ForEachDeciding(const Episode& episode, Work work)
{
    for (Flow* flow : episode.LiveFlows())
    {
        if (auto* controller = dynamic_cast<DecidingController*>(&flow->Controller()))
        {
            work(*controller);
        }
    }
}

/// Refuses a policy that observes fields which nothing reports on this network.
void
RefuseUnknown(const std::vector<Field>& fields, const std::string& file)
{
    std::string unknown;
    for (const Field field : fields)
    {
        const FieldSpec& spec = ObservationFields()[static_cast<size_t>(field)];
        if (!KnownWithoutSwitches(spec.source))
        {
            unknown.append(unknown.empty() ? "" : ", ").append(spec.name);
        }
    }
    if (!unknown.empty())
    {
        throw ScenarioError(
            "attributes.File",
            "policy '" + Shown(file) +
                "' observes fields that switches do not report on this network: " + unknown);
    }
}

/// The group's name; null of a controller that is under no policy.
const std::string*
GroupOf(const CongestionControl& control)
{
    if (const auto* policy = dynamic_cast<const PolicyController*>(&control))
    {
        return &policy->File();
    }
    return dynamic_cast<const AgentController*>(&control) != nullptr ? &ACROSS_THE_CHANNEL
                                                                     : nullptr;
}

} // namespace

DecidingFlows::DecidingFlows(const Scenario& scenario, SimulatorChannel* channel)
    : m_seed(scenario.seed),
      m_feedback(scenario.congestionPoints.enabled),
      m_inBandTelemetry(scenario.inBandTelemetry)
{
    if (channel != nullptr)
    {
        m_channel.emplace(*channel);
        AddGroup(ACROSS_THE_CHANNEL, std::make_unique<ChannelDecider>(*m_channel), scenario.clock);
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
        if (scenario.controllers[i].name == POLICY_OF_FILE)
        {
            Within(ControllerKey(i), [&] { AddPolicy(scenario.controllers[i]); });
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
    const std::string file = dynamic_cast<const PolicyController&>(*control).File();
    if (file.empty())
    {
        throw ScenarioError("attributes.File",
                            "controller 'network' needs the attribute 'File', a policy's file");
    }
    if (m_groups.contains(file))
    {
        return;
    }
    Policy& policy = Within("attributes.File", [&]() -> Policy& { return PolicyCache::Get(file); });
    if (!m_inBandTelemetry)
    {
        RefuseUnknown(policy.Fields(), file);
    }
    auto decider = std::make_unique<PolicyDecider>(policy, m_seed, m_log ? &*m_log : nullptr);
    AddGroup(file, std::move(decider), policy.Clock());
}

void
DecidingFlows::AddGroup(const std::string& name,
                        std::unique_ptr<Decider> decider,
                        const ClockSpec& clock)
{
    Decider& answers = *decider;
    m_groups.emplace(name,
                     Group{std::move(decider), clock, DecisionBroker(answers, clock.quantum)});
}

void
DecidingFlows::Adopt(Flow& flow, int32_t slot)
{
    auto* controller = dynamic_cast<DecidingController*>(&flow.Controller());
    if (controller == nullptr)
    {
        return;
    }
    const auto group = m_groups.find(*GroupOf(*controller));
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
    if (const auto* policy = dynamic_cast<const PolicyController*>(controller))
    {
        static_cast<PolicyDecider&>(*group->second.decider).Adopt(flow.Id(), policy->Exploring());
    }
    controller->Connect(group->second.broker, flow, slot, group->second.clock, m_inBandTelemetry);
}

void
DecidingFlows::StartClocks(Episode& episode)
{
    for (const auto& [name, group] : m_groups)
    {
        StartClock(name, episode);
    }
}

void
DecidingFlows::StartClock(const std::string& name, Episode& episode)
{
    const auto& interval = m_groups.at(name).clock.interval;
    if (interval)
    {
        Simulator::Schedule(Time(*interval), &DecidingFlows::Tick, this, &name, &episode);
    }
}

void
DecidingFlows::Tick(const std::string* name, Episode* episode)
{
    const Picos now = NowPicos();
    ForEachDeciding(*episode,
                    [&](DecidingController& controller)
                    {
                        if (*GroupOf(controller) == *name)
                        {
                            controller.Decide(now);
                        }
                    });
    StartClock(*name, *episode);
}

void
DecidingFlows::CutAll(const Episode& episode, Picos now)
{
    ForEachDeciding(episode, [now](DecidingController& controller) { controller.OnCut(now); });
}

void
DecidingFlows::Flush()
{
    for (auto& [name, group] : m_groups)
    {
        group.broker.Flush();
    }
    if (m_log)
    {
        m_log->Flush(NowPicos());
    }
}

Interruption
DecidingFlows::Interrupted() const
{
    return m_channel ? m_channel->Interrupted() : Interruption::None;
}

} // namespace ns3::env
