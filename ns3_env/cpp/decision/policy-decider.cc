// SPDX-License-Identifier: GPL-2.0-or-later
#include "policy-decider.h"

#include <algorithm>

namespace ns3::env
{

PolicyDecider::PolicyDecider(Policy& policy, uint64_t seed, TransitionLog* log)
    : m_policy(policy),
      m_seed(seed),
      m_log(log)
{
}

void
PolicyDecider::Adopt(uint32_t flow, const ExplorationSettings& exploration)
{
    Memory& memory = m_memories[flow];
    if (!exploration.None())
    {
        memory.exploration.emplace(exploration, m_seed, flow);
    }
}

bool
PolicyDecider::Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now)
{
    m_due.clear();
    m_histories.clear();
    for (const DecisionRow& row : rows)
    {
        if (!row.NeedsAction())
        {
            m_memories.erase(row.flow);
            continue;
        }
        Memory& memory = m_memories.at(row.flow);
        m_policy.Observe(memory.history, row.record);
        m_due.push_back(&memory);
        m_histories.push_back(&memory.history);
    }
    m_outputs.resize(std::max(m_outputs.size(), m_due.size()));
    if (!m_due.empty())
    {
        m_policy.Decide(m_histories, std::span(m_outputs).first(m_due.size()));
    }
    size_t next = 0;
    for (const DecisionRow& row : rows)
    {
        ActionRow action;
        if (row.NeedsAction())
        {
            Memory& memory = *m_due[next];
            const double wanted = m_outputs[next];
            action = m_policy.Actions()(memory.exploration ? (*memory.exploration)(wanted) : wanted,
                                        row.record);
            actions[next++] = action;
        }
        if (m_log != nullptr && !m_log->Add(row, action, now))
        {
            return false;
        }
    }
    return true;
}

} // namespace ns3::env
