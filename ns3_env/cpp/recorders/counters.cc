// SPDX-License-Identifier: GPL-2.0-or-later
// The controllers' counters, over all flows and flow by flow.
#include "counters.h"

#include "ns3_env/cpp/contract/congestion-control.h"

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

} // namespace ns3::env
