// SPDX-License-Identifier: GPL-2.0-or-later
// Dependencies of flows and steps in a network that is simulated in parts.
#include "dependencies-in-parts.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace ns3::env
{

namespace
{

constexpr uint32_t NOWHERE = std::numeric_limits<uint32_t>::max();

/// The node of each rank of each job, by its flows: one of its cards; NOWHERE for a rank in several racks.
std::map<std::pair<int32_t, int32_t>, uint32_t>
NodesOfRanks(const DependencySpec& spec, const std::vector<FlowEntry>& flows, const Racks& racks)
{
    std::map<std::pair<int32_t, int32_t>, uint32_t> nodes;
    const auto add = [&](int32_t job, int32_t rank, uint32_t node)
    {
        uint32_t& known = nodes.try_emplace({job, rank}, node).first->second;
        known = known != NOWHERE && racks.of[known] == racks.of[node] ? known : NOWHERE;
    };
    for (size_t task = 0; task < flows.size() && !spec.jobs.empty(); ++task)
    {
        if (spec.job[task] >= 0)
        {
            add(spec.job[task], spec.rank[task], flows[task].flow.source);
            add(spec.job[task], spec.peer[task], flows[task].flow.destination);
        }
    }
    return nodes;
}

} // namespace

DependenciesInParts::DependenciesInParts(const DependencySpec& spec,
                                         const std::vector<FlowEntry>& flows,
                                         const Racks& racks,
                                         FlowHooks hooks,
                                         std::function<void()> stepsOver)
    : Dependencies(spec, flows.size(), hooks.start, std::move(stepsOver)),
      m_racks(racks),
      m_hooks(std::move(hooks)),
      m_outlook(spec.Tasks())
{
    LookAhead(flows);
}

bool
DependenciesInParts::IsNear(const Outlook& task, const Outlook& other) const
{
    const auto rack = [this](uint32_t node) { return node == NOWHERE ? node : m_racks.of[node]; };
    return rack(task.ends) == rack(other.begins);
}

void
DependenciesInParts::LookAhead(const std::vector<FlowEntry>& flows)
{
    const DependencySpec& spec = Spec();
    const auto nodes = NodesOfRanks(spec, flows, m_racks);
    for (uint32_t task = 0; task < spec.Tasks(); ++task)
    {
        Outlook& own = m_outlook[task];
        own.unforeseen = spec.Count(task);
        if (!IsStep(task))
        {
            own.begins = flows[task].flow.source;
            own.ends = flows[task].flow.destination;
            continue;
        }
        const auto rank =
            spec.jobs.empty() ? nodes.end() : nodes.find({spec.job[task], spec.rank[task]});
        own.begins = own.ends = rank == nodes.end() ? NOWHERE : rank->second;
    }
}

void
DependenciesInParts::Release(uint32_t task)
{
    const Outlook& own = m_outlook[task];
    const Picos now = NowPicos();
    const Picos over = NoteBegin(task, std::max(now, own.news));
    const auto ends = [this, task] { OnDelayOver(task); };
    if (!EventLoop::IsInPart())
    {
        Create(task);
    }
    if (IsStep(task))
    {
        EventLoop::Report(now, task, [this, task] { Foresee(task); });
    }
    if (own.begins == NOWHERE)
    {
        Simulator::Schedule(Time(over - now), ends);
        return;
    }
    Simulator::ScheduleWithContext(own.begins, Time(over - now), ends);
}

void
DependenciesInParts::OnDelayOver(uint32_t task)
{
    if (IsStep(task))
    {
        OnOver(task);
        EventLoop::Report(NowPicos(), task, [this] { CountStep(); });
        return;
    }
    const auto started = [this, task]
    {
        CountFlow();
        Foresee(task);
        m_hooks.started(task);
    };
    if (m_outlook[task].isCreated)
    {
        Start(task);
        EventLoop::Report(NowPicos(), task, started);
        return;
    }
    // Its predecessor was faster than its minimum time: paths of one flow may have different delays.
    EventLoop::Report(NowPicos(),
                      task,
                      [this, task]
                      {
                          Create(task);
                          Simulator::ScheduleWithContext(m_outlook[task].begins,
                                                         Time(0),
                                                         [this, task] { OnDelayOver(task); });
                      });
}

void
DependenciesInParts::OnOver(uint32_t task)
{
    NoteEnd(task);
    const Outlook& own = m_outlook[task];
    bool isNews = false;
    for (uint32_t other : WaitingFor(task))
    {
        if (!IsNear(own, m_outlook[other]))
        {
            isNews = true;
        }
        else if (CountOff(other))
        {
            Release(other);
        }
    }
    if (isNews)
    {
        EventLoop::Report(NowPicos(), task, [this, task] { Tell(task); });
    }
}

/// Informs other racks, between windows, that the task is over.
void
DependenciesInParts::Tell(uint32_t task)
{
    const Outlook& own = m_outlook[task];
    const Picos heard = End(task) + (own.ends == NOWHERE ? 0 : m_racks.lookahead);
    for (uint32_t other : WaitingFor(task))
    {
        Outlook& waiting = m_outlook[other];
        if (IsNear(own, waiting))
        {
            continue;
        }
        waiting.news = std::max(waiting.news, heard);
        if (--waiting.unforeseen == 0)
        {
            Create(other);
        }
        if (CountOff(other))
        {
            Release(other);
        }
    }
}

/// The task could start within the next window. Called between windows.
void
DependenciesInParts::Create(uint32_t task)
{
    if (IsCreatedShort(task))
    {
        Foresee(task);
    }
}

/// Creates a task unless that is done. \returns whether it was, and could be over within a window
bool
DependenciesInParts::IsCreatedShort(uint32_t task)
{
    if (std::exchange(m_outlook[task].isCreated, true))
    {
        return false;
    }
    const Picos least = IsStep(task) ? 0 : m_hooks.create(task);
    return least + Spec().delay[task] < m_racks.lookahead;
}

/// Updates tasks of its rack that wait for a task which has started, or could be over within the next window: they
/// could start. Called between windows.
void
DependenciesInParts::Foresee(uint32_t task)
{
    std::vector<uint32_t> near{task};
    while (!near.empty())
    {
        const uint32_t first = near.back();
        near.pop_back();
        Outlook& own = m_outlook[first];
        if (std::exchange(own.isForeseen, true))
        {
            continue;
        }
        for (uint32_t other : WaitingFor(first))
        {
            if (IsNear(own, m_outlook[other]) && --m_outlook[other].unforeseen == 0 &&
                IsCreatedShort(other))
            {
                near.push_back(other);
            }
        }
    }
}

} // namespace ns3::env
