// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the flows or ports that are due for a decision and has them answered in one batch.
#include "decision-broker.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>

namespace ns3::env
{

DecisionBroker::DecisionBroker(Decider& decider, std::optional<Picos> quantum, bool waits)
    : m_decider(decider),
      m_quantum(quantum),
      m_waits(waits)
{
}

bool
DecisionBroker::WaitsForWindow() const
{
    return m_waits && EventLoop::IsDivided();
}

void
DecisionBroker::ScheduleFlush()
{
    if (!m_scheduled)
    {
        m_scheduled = true;
        Simulator::Schedule(Time(m_quantum.value_or(0)), &DecisionBroker::Flush, this);
    }
}

void
DecisionBroker::RequestDecision(Subject& agent, Picos now)
{
    if (WaitsForWindow())
    {
        EventLoop::Report(now,
                          agent.Number(),
                          [this, &agent, row = agent.MakeRow(now, 0)] { Collect(agent, row); });
        return;
    }
    Collect(agent, agent.MakeRow(now, 0));
}

void
DecisionBroker::Collect(Subject& agent, const DecisionRow& row)
{
    m_rows.push_back(row);
    m_agents.push_back(&agent);
    if (m_quantum || WaitsForWindow())
    {
        ScheduleFlush();
    }
    else
    {
        Exchange();
    }
}

void
DecisionBroker::ReportEnd(Subject& agent, uint32_t flag, Picos now)
{
    if (WaitsForWindow())
    {
        EventLoop::Report(now,
                          agent.Number(),
                          [this, &agent, row = agent.MakeRow(now, flag)]
                          { CollectEnd(agent, row); });
        return;
    }
    CollectEnd(agent, agent.MakeRow(now, flag));
}

void
DecisionBroker::CollectEnd(Subject& agent, DecisionRow row)
{
    // The end of a flow replaces its decision that waits for a batch.
    const auto waiting = std::find(m_agents.begin(), m_agents.end(), &agent);
    if (waiting != m_agents.end())
    {
        const auto overtaken = m_rows.begin() + (waiting - m_agents.begin());
        row.flags |= overtaken->flags;
        for (const Field sum : {Field::AckedBytes,
                                Field::IntervalNs,
                                Field::Cost,
                                Field::SharingGain,
                                Field::JobCost})
        {
            row.record[sum] += overtaken->record[sum];
        }
        m_rows.erase(overtaken);
        m_agents.erase(waiting);
    }
    m_rows.push_back(row);
    m_agents.push_back(nullptr);
    ScheduleFlush();
}

void
DecisionBroker::Flush()
{
    m_scheduled = false;
    Exchange();
}

void
DecisionBroker::Exchange()
{
    m_batchRows.clear();
    m_batchAgents.clear();
    m_batchRows.swap(m_rows);
    m_batchAgents.swap(m_agents);
    if (m_batchRows.empty() || m_givenUp)
    {
        return;
    }
    m_actions.resize(std::max(m_actions.size(), m_batchRows.size()));
    if (!m_decider.Decide(m_batchRows, m_actions, NowPicos()))
    {
        m_givenUp = true;
        Simulator::Stop();
        return;
    }
    const bool elsewhere = WaitsForWindow();
    auto action = m_actions.begin();
    for (Subject* agent : m_batchAgents)
    {
        if (agent == nullptr)
        {
            continue;
        }
        const ActionRow& given = *action++;
        if (elsewhere)
        {
            EventLoop::RunAt(agent->Host(), [&] { agent->Apply(given); });
        }
        else
        {
            agent->Apply(given);
        }
    }
}

} // namespace ns3::env
