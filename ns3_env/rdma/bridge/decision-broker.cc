// SPDX-License-Identifier: GPL-2.0-or-later
#include "decision-broker.h"

#include "agent-controller.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::rdma
{

DecisionBroker::DecisionBroker(SimulatorEnd& channel, std::optional<Picos> quantum)
    : m_channel(channel),
      m_quantum(quantum)
{
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
DecisionBroker::RequestDecision(AgentController& agent, Picos now)
{
    m_pending.push_back({&agent, agent.MakeRow(now)});
    if (m_quantum)
    {
        ScheduleFlush();
    }
    else
    {
        Exchange();
    }
}

void
DecisionBroker::ReportEnd(AgentController& agent, uint32_t flag, Picos now)
{
    // A decision that was due at this very instant is overtaken by the end.
    std::erase_if(m_pending, [&](const Pending& p) { return p.agent == &agent; });
    DecisionRow row = agent.MakeRow(now);
    row.flags |= flag;
    m_pending.push_back({nullptr, row});
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
    std::vector<Pending> batch;
    batch.swap(m_pending);
    // More rows than the channel holds go in several messages.
    const size_t capacity = m_channel.Capacity();
    for (size_t begin = 0; begin < batch.size() && m_interruption == Interruption::None;
         begin += capacity)
    {
        const size_t end = std::min(batch.size(), begin + capacity);
        std::vector<Pending> part(batch.begin() + static_cast<std::ptrdiff_t>(begin),
                                  batch.begin() + static_cast<std::ptrdiff_t>(end));
        ExchangePart(part);
    }
}

void
DecisionBroker::ExchangePart(std::vector<Pending>& batch)
{
    auto rows = m_channel.Rows();
    for (size_t i = 0; i < batch.size(); ++i)
    {
        rows[i] = batch[i].row;
    }
    m_channel.Publish(Message::Decisions, NowPicos(), static_cast<uint32_t>(batch.size()));
    const Command command = m_channel.Wait();
    if (command != Command::Step)
    {
        m_interruption = command == Command::Reset ? Interruption::Reset : Interruption::Close;
        Simulator::Stop();
        return;
    }
    auto action = m_channel.Actions().begin();
    for (const Pending& p : batch)
    {
        if (p.row.NeedsAction())
        {
            p.agent->Apply(*action++);
        }
    }
}

} // namespace ns3::rdma
