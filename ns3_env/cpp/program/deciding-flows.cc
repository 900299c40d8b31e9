// SPDX-License-Identifier: GPL-2.0-or-later
#include "deciding-flows.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/decision/agent-controller.h"
#include "ns3_env/cpp/decision/channel-decider.h"
#include "ns3_env/cpp/decision/network-controller.h"
#include "ns3_env/cpp/decision/policy-cache.h"
#include "ns3_env/cpp/decision/policy-decider.h"
#include "ns3_env/cpp/engine/now.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/controller-factory.h"

namespace ns3::env
{

namespace
{

const std::string ACROSS_THE_CHANNEL;
const std::string NETWORK = "network"; ///< the controller that plays a policy's file

/// Works on the controller of each live flow that decides.
template <typename Work>
void
ForEachDeciding(const FlowRun& run, Work work)
{
    for (LiveFlow* flow : run.LiveFlows())
    {
        if (auto* controller = dynamic_cast<DecidingController*>(&flow->Law()))
        {
            work(*controller);
        }
    }
}

/// Fields that no packet and no frame tells here.
void
RefuseUnknown(const std::vector<Field>& fields, const std::string& file)
{
    std::string unknown;
    for (const Field field : fields)
    {
        const FieldSpec& spec = TelemetryFields()[static_cast<size_t>(field)];
        if (!KnownWithoutSwitches(spec.source))
        {
            unknown.append(unknown.empty() ? "" : ", ").append(spec.name);
        }
    }
    if (!unknown.empty())
    {
        throw ScenarioError("attributes.File",
                            "policy '" + Shown(file) +
                                "' observes what switches would have to tell: " + unknown +
                                ", and they tell nothing on this network");
    }
}

/// The group's name; null of a controller that is under no policy.
const std::string*
GroupOf(const CongestionControl& control)
{
    if (const auto* network = dynamic_cast<const NetworkController*>(&control))
    {
        return &network->File();
    }
    return dynamic_cast<const AgentController*>(&control) != nullptr ? &ACROSS_THE_CHANNEL
                                                                     : nullptr;
}

} // namespace

DecidingFlows::DecidingFlows(const Scenario& scenario, SimulatorChannel* channel)
    : m_seed(scenario.seed),
      m_feedback(scenario.congestionPoints.enabled),
      m_telling(scenario.inBandTelemetry)
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
                                "needs somebody across the channel who takes them");
        }
        m_log.emplace(*m_channel);
    }
    for (size_t i = 0; i < scenario.controllers.size(); ++i)
    {
        if (scenario.controllers[i].name == NETWORK)
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
    const std::string file = dynamic_cast<const NetworkController&>(*control).File();
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
    if (!m_telling)
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
DecidingFlows::Adopt(LiveFlow& flow, int32_t slot)
{
    auto* controller = dynamic_cast<DecidingController*>(&flow.Law());
    if (controller == nullptr)
    {
        return;
    }
    const auto group = m_groups.find(*GroupOf(*controller));
    if (group == m_groups.end())
    {
        throw ScenarioError("controllers",
                            "controller 'agent' needs a policy across the channel; "
                            "name a controller that lives in the simulator");
    }
    if (group->second.clock.onNotification && !m_feedback)
    {
        throw ScenarioError(
            "switch.congestion_points",
            "the clock 'per_notification' waits for feedback frames, and no switch sends any: give "
            "some, such as {feedback: both}, as policies declare none");
    }
    if (const auto* network = dynamic_cast<const NetworkController*>(controller))
    {
        static_cast<PolicyDecider&>(*group->second.decider).Adopt(flow.Id(), network->Exploring());
    }
    controller->Connect(group->second.broker, flow, slot, group->second.clock, m_telling);
}

void
DecidingFlows::StartClocks(FlowRun& run)
{
    for (const auto& [name, group] : m_groups)
    {
        StartClock(name, run);
    }
}

void
DecidingFlows::StartClock(const std::string& name, FlowRun& run)
{
    const auto& interval = m_groups.at(name).clock.interval;
    if (interval)
    {
        Simulator::Schedule(Time(*interval), &DecidingFlows::Tick, this, &name, &run);
    }
}

void
DecidingFlows::Tick(const std::string* name, FlowRun* run)
{
    const Picos now = NowPicos();
    ForEachDeciding(*run,
                    [&](DecidingController& controller)
                    {
                        if (*GroupOf(controller) == *name)
                        {
                            controller.Decide(now);
                        }
                    });
    StartClock(*name, *run);
}

void
DecidingFlows::CutAll(const FlowRun& run, Picos now)
{
    ForEachDeciding(run, [now](DecidingController& controller) { controller.OnCut(now); });
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
