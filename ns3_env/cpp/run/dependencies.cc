// SPDX-License-Identifier: GPL-2.0-or-later
// Starts flows and steps of computation when all that they wait for is over.
#include "dependencies.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <utility>

namespace ns3::env
{

Dependencies::Dependencies(const DependencySpec& spec,
                           size_t flows,
                           std::function<void(uint32_t flow)> start,
                           std::function<void()> stepsOver)
    : m_spec(spec),
      m_flows(flows),
      m_start(std::move(start)),
      m_stepsOver(std::move(stepsOver)),
      m_left(spec.Tasks()),
      m_next(spec.Tasks()),
      m_end(spec.Tasks(), -1),
      m_stepStart(spec.Tasks() - flows, -1),
      m_stepsLeft(spec.Tasks() - flows)
{
    for (uint32_t task = 0; task < spec.Tasks(); ++task)
    {
        m_left[task] = spec.Needed(task);
        for (uint32_t i = spec.first[task]; i < spec.first[task + 1]; ++i)
        {
            m_next[spec.after[i]].push_back(task);
        }
        m_flowsLeft += task < flows && spec.Waits(task) ? 1 : 0;
    }
}

void
Dependencies::Begin()
{
    for (uint32_t task = 0; task < m_spec.Tasks(); ++task)
    {
        if (m_left[task] == 0 && (IsStep(task) || m_spec.Waits(task)))
        {
            Release(task);
        }
    }
}

void
Dependencies::Release(uint32_t task)
{
    const Picos now = NowPicos();
    Simulator::Schedule(Time(NoteBegin(task, now) - now), &Dependencies::OnDelayOver, this, task);
}

Picos
Dependencies::NoteBegin(uint32_t task, Picos released)
{
    const Picos begins = std::max(released, m_spec.start[task]);
    if (IsStep(task))
    {
        m_stepStart[task - m_flows] = begins;
    }
    return begins + m_spec.delay[task];
}

void
Dependencies::OnDelayOver(uint32_t task)
{
    if (IsStep(task))
    {
        OnOver(task);
        CountStep();
        return;
    }
    CountFlow();
    Start(task);
}

void
Dependencies::CountStep()
{
    if (--m_stepsLeft == 0)
    {
        m_stepsOver();
    }
}

void
Dependencies::OnOver(uint32_t task)
{
    NoteEnd(task);
    for (uint32_t other : m_next[task])
    {
        if (CountOff(other))
        {
            Release(other);
        }
    }
}

} // namespace ns3::env
