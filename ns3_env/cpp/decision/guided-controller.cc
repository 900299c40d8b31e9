// SPDX-License-Identifier: GPL-2.0-or-later
// "agent" over a base controller, whose window and rate decisions scale.
#include "guided-controller.h"

#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"

#include <cmath>
#include <sstream>

namespace ns3::env
{

NS_OBJECT_ENSURE_REGISTERED(GuidedController);

namespace
{

/// By what an action scales a window or rate; one without a bound is not scaled.
double
FactorOf(double wanted, double own)
{
    return std::isfinite(own) && own > 0 ? wanted / own : 1.0;
}

} // namespace

TypeId
GuidedController::GetTypeId()
{
    static TypeId tid = Declaration<GuidedController, DecidingController>(NAME).Add(
        BASE,
        "The controller that steers, and its attributes, as in hpcc,Eta=0.9.",
        StringValue(""),
        MakeStringAccessor(&GuidedController::SetBase, &GuidedController::GetBase),
        MakeStringChecker());
    return tid;
}

void
GuidedController::SetBase(const std::string& text)
{
    m_text = text;
    if (text.empty())
    {
        return;
    }
    std::istringstream parts(text);
    ControllerSpec spec;
    std::getline(parts, spec.name, ',');
    for (std::string part; std::getline(parts, part, ',');)
    {
        const size_t equals = part.find('=');
        if (equals == std::string::npos)
        {
            throw ScenarioError("attributes.Base",
                                "'" + Shown(part) + "' of the base is no ATTRIBUTE=value");
        }
        spec.attributes.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    m_base = Within("attributes.Base", [&] { return CreateController(spec); });
    if (DynamicCast<DecidingController>(m_base) || IsReference(m_base->GetInstanceTypeId()))
    {
        throw ScenarioError("attributes.Base",
                            "'" + Shown(spec.name) +
                                "' steers no flow by itself: name a controller such as hpcc");
    }
}

template <class Hook>
void
GuidedController::Act(FlowState& flow, const Hook& hook)
{
    if (!IsScaled()) [[likely]]
    {
        hook();
        return;
    }
    flow.SetWindow(m_baseWindow);
    flow.SetRate(m_baseRate);
    hook();
    WriteScaled(flow);
}

void
GuidedController::WriteScaled(FlowState& flow)
{
    m_baseWindow = flow.WindowBytes();
    m_baseRate = flow.RateBps();
    const double least = flow.Path().minRateBps * LEAST_RATE_SHARE;
    flow.SetWindow(std::max(m_baseWindow * m_windowFactor, LeastWindow(flow.Path())));
    flow.SetRate(std::clamp(m_baseRate * m_rateFactor, least, flow.Path().hostRateBps));
}

IntRequest
GuidedController::GetIntRequestOf(uint64_t sizeBytes, const PathFacts& path) const
{
    return m_base->GetIntRequestOf(sizeBytes, path);
}

double
GuidedController::GetWindowFloor(const FlowState& flow) const
{
    return m_base->GetWindowFloor(flow);
}

double
GuidedController::GetRateFloor(const FlowState& flow) const
{
    return m_base->GetRateFloor(flow);
}

void
GuidedController::OnFlowStart(FlowState& flow)
{
    m_base->OnFlowStart(flow);
}

void
GuidedController::OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes)
{
    Act(flow, [&] { m_base->OnPacketSent(flow, now, wireBytes); });
}

void
GuidedController::OnAck(FlowState& flow, const AckSample& ack)
{
    Act(flow, [&] { m_base->OnAck(flow, ack); });
    DecidingController::OnAck(flow, ack);
}

void
GuidedController::OnCongestionNotification(FlowState& flow, const CongestionNotification& frame)
{
    Act(flow, [&] { m_base->OnCongestionNotification(flow, frame); });
    DecidingController::OnCongestionNotification(flow, frame);
}

void
GuidedController::OnNack(FlowState& flow, Picos now)
{
    Act(flow, [&] { m_base->OnNack(flow, now); });
}

void
GuidedController::OnTimeout(FlowState& flow, Picos now)
{
    Act(flow, [&] { m_base->OnTimeout(flow, now); });
}

void
GuidedController::OnFlowEnd(FlowState& flow, Picos now)
{
    m_base->OnFlowEnd(flow, now);
    DecidingController::OnFlowEnd(flow, now);
}

void
GuidedController::Decide(Picos now)
{
    if (IsScaled())
    {
        Decided().SetWindow(m_baseWindow);
        Decided().SetRate(m_baseRate);
        m_windowFactor = m_rateFactor = 1.0;
    }
    DecidingController::Decide(now);
}

void
GuidedController::Apply(const ActionRow& action)
{
    FlowState& flow = Decided();
    const double window = flow.WindowBytes();
    m_windowFactor = FactorOf(action.windowBytes, window);
    m_rateFactor = FactorOf(action.rateBps, flow.RateBps());
    if (IsScaled())
    {
        WriteScaled(flow);
    }
    Resume(action.echo);
}

} // namespace ns3::env
