// SPDX-License-Identifier: GPL-2.0-or-later
// Traces that controllers declare: counters over all flows, and every state or counter over time.
#include "controller-log.h"

#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <limits>

namespace ns3::env
{

namespace
{

std::map<std::string, double>
Summary(const DecisionTimes& times)
{
    return {{"decision_us_mean", times.Mean()},
            {"decision_us_p50", times.Percentile(0.50)},
            {"decision_us_p95", times.Percentile(0.95)},
            {"decision_us_p99", times.Percentile(0.99)}};
}

} // namespace

Counters::Counters(Episode& episode)
    : m_flows(episode.GetScenario().flows.size())
{
    episode.Traces().over.ConnectWithoutContext(MakeCallback(&Counters::Add, this));
}

void
Counters::Add(const Flow& flow)
{
    const auto* control = dynamic_cast<const CongestionControl*>(&flow.Controller());
    if (control == nullptr)
    {
        return; // a controller of the transport's own stack
    }
    m_flows = std::max<size_t>(m_flows, flow.Id() + 1);
    for (const auto& [name, value] : control->GetCounters())
    {
        m_totals[name] += value;
        Of(flow, name) = value;
    }
    const DecisionTimes* times = control->GetDecisionTimes();
    if (times != nullptr && times->Count() > 0)
    {
        m_decisionTimes.Add(*times);
        for (const auto& [name, value] : Summary(*times))
        {
            Of(flow, name) = value;
        }
    }
}

double&
Counters::Of(const Flow& flow, const std::string& name)
{
    std::vector<double>& column = m_byFlow[name];
    column.resize(m_flows, std::numeric_limits<double>::quiet_NaN());
    return column[flow.Id()];
}

std::map<std::string, double>
Counters::Totals() const
{
    std::map<std::string, double> totals = m_totals;
    if (m_decisionTimes.Count() > 0)
    {
        totals.merge(Summary(m_decisionTimes));
    }
    return totals;
}

namespace
{

/// The type that a trace source of this kind names when it is declared.
std::string
CallbackOf(ControllerLog::Kind kind)
{
    return kind == ControllerLog::Kind::States ? "ns3::TracedValueCallback::Double"
                                               : "ns3::TracedValueCallback::Uint64";
}

} // namespace

ControllerLog::ControllerLog(Episode& episode, Kind kind)
    : m_kind(kind)
{
    episode.Traces().created.ConnectWithoutContext(MakeCallback(&ControllerLog::OnCreated, this));
}

void
ControllerLog::OnCreated(Flow& flow)
{
    const TypeId tid = flow.Controller().GetInstanceTypeId();
    for (size_t i = 0; i < tid.GetTraceSourceN(); ++i)
    {
        const TypeId::TraceSourceInformation source = tid.GetTraceSource(i);
        if (source.callback == CallbackOf(m_kind))
        {
            Follow(flow, source.name);
        }
    }
}

void
ControllerLog::Follow(Flow& flow, const std::string& source)
{
    const auto log = [this, id = flow.Id(), name = IndexOf(source)](double value)
    { m_changes.push_back({NowPicos(), id, name, value}); };
    if (m_kind == Kind::States)
    {
        flow.Controller().TraceConnectWithoutContext(
            source,
            Callback<void, double, double>([log](double, double value) { log(value); }));
    }
    else
    {
        flow.Controller().TraceConnectWithoutContext(
            source,
            Callback<void, uint64_t, uint64_t>([log](uint64_t, uint64_t value)
                                               { log(static_cast<double>(value)); }));
    }
}

uint32_t
ControllerLog::IndexOf(const std::string& name)
{
    const auto found = std::find(m_names.begin(), m_names.end(), name);
    const auto index = static_cast<uint32_t>(found - m_names.begin());
    if (found == m_names.end())
    {
        m_names.push_back(name);
    }
    return index;
}

} // namespace ns3::env
