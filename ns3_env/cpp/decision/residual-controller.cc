// SPDX-License-Identifier: GPL-2.0-or-later
// "agent" and "policy" over a base controller, whose window and rate decisions scale.
#include "residual-controller.h"

#include "policy-decider.h"

#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"

#include <cmath>
#include <sstream>

namespace ns3::env
{

namespace
{

/// By what an action scales a window or rate; one without a bound is not scaled.
double
FactorOf(double wanted, double own)
{
    return std::isfinite(own) && own > 0 ? wanted / own : 1.0;
}

} // namespace

template <class Own>
TypeId
ResidualController<Own>::GetTypeId()
{
    // "rdma::agent": "residual::agent", which no user may name
    const std::string name = Own::GetTypeId().GetName();
    static TypeId tid =
        Declaration<ResidualController, Own>("residual" + name.substr(name.find(':')))
            .Add("Base",
                 "The controller that steers, and its attributes, as in hpcc,Eta=0.9.",
                 StringValue(""),
                 MakeStringAccessor(&ResidualController::SetBase, &ResidualController::GetBase),
                 MakeStringChecker());
    return tid;
}

template <class Own>
void
ResidualController<Own>::SetBase(const std::string& text)
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

template <class Own>
template <class Hook>
void
ResidualController<Own>::Act(FlowState& flow, const Hook& hook)
{
    if (!IsScaled()) [[likely]]
    {
        hook();
        return;
    }
    flow.SetWindow(m_baseWindow);
    flow.SetRate(m_baseRate);
    hook();
    flow.SetRate(Scale(flow));
}

template <class Own>
double
ResidualController<Own>::Scale(FlowState& flow)
{
    m_baseWindow = flow.WindowBytes();
    m_baseRate = flow.RateBps();
    const double least = flow.Path().minRateBps * Own::LEAST_RATE_SHARE;
    flow.SetWindow(std::max(m_baseWindow * m_windowFactor, Own::LeastWindow(flow.Path())));
    return std::clamp(m_baseRate * m_rateFactor, least, flow.Path().hostRateBps);
}

template <class Own>
IntRequest
ResidualController<Own>::GetIntRequestOf(uint64_t sizeBytes, const PathFacts& path) const
{
    IntRequest request = m_base->GetIntRequestOf(sizeBytes, path);
    const IntRequest own = Own::GetIntRequestOf(sizeBytes, path);
    const bool each = request.wireBytes > 0 && request.everyRtts == 0;
    request.everyRtts = each ? 0 : own.everyRtts;
    request.wireBytes += own.wireBytes;
    request.hopRecords |= own.hopRecords && !request.oneByte;
    request.quantised |= own.quantised;
    request.shorterBacklog |= own.shorterBacklog;
    return request;
}

template <class Own>
double
ResidualController<Own>::GetWindowFloor(const FlowState& flow) const
{
    return m_base->GetWindowFloor(flow);
}

template <class Own>
double
ResidualController<Own>::GetRateFloor(const FlowState& flow) const
{
    return m_base->GetRateFloor(flow);
}

template <class Own>
void
ResidualController<Own>::OnFlowStart(FlowState& flow)
{
    m_base->OnFlowStart(flow);
    this->DecideAtStart();
}

template <class Own>
void
ResidualController<Own>::OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes)
{
    Act(flow, [&] { m_base->OnPacketSent(flow, now, wireBytes); });
}

template <class Own>
void
ResidualController<Own>::OnAck(FlowState& flow, const AckSample& ack)
{
    Act(flow, [&] { m_base->OnAck(flow, ack); });
    Own::OnAck(flow, ack);
}

template <class Own>
void
ResidualController<Own>::OnCongestionNotification(FlowState& flow,
                                                  const CongestionNotification& frame)
{
    Act(flow, [&] { m_base->OnCongestionNotification(flow, frame); });
    Own::OnCongestionNotification(flow, frame);
}

template <class Own>
void
ResidualController<Own>::OnNack(FlowState& flow, Picos now)
{
    Act(flow, [&] { m_base->OnNack(flow, now); });
}

template <class Own>
void
ResidualController<Own>::OnTimeout(FlowState& flow, Picos now)
{
    Act(flow, [&] { m_base->OnTimeout(flow, now); });
}

template <class Own>
void
ResidualController<Own>::OnFlowEnd(FlowState& flow, Picos now)
{
    m_base->OnFlowEnd(flow, now);
    Own::OnFlowEnd(flow, now);
}

template <class Own>
void
ResidualController<Own>::Decide(Picos now)
{
    if (IsScaled())
    {
        this->Decided().SetWindow(m_baseWindow);
        this->Decided().SetRateAndRepace(m_baseRate);
        m_windowFactor = m_rateFactor = 1.0;
    }
    Own::Decide(now);
}

template <class Own>
void
ResidualController<Own>::Apply(const ActionRow& action)
{
    FlowState& flow = this->Decided();
    const double window = flow.WindowBytes();
    m_windowFactor = FactorOf(action.windowBytes, window);
    m_rateFactor = FactorOf(action.rateBps, flow.RateBps());
    if (IsScaled())
    {
        flow.SetRateAndRepace(Scale(flow));
    }
    this->Resume(action.echo);
}

using ResidualAgent = ResidualController<AgentController>;
using ResidualPolicy = ResidualController<PolicyController>;
NS_OBJECT_ENSURE_REGISTERED(ResidualAgent);
NS_OBJECT_ENSURE_REGISTERED(ResidualPolicy);

} // namespace ns3::env
