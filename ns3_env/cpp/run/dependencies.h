// SPDX-License-Identifier: GPL-2.0-or-later
// Starts flows and steps of computation when all that they wait for is over.
#pragma once

#include "dependency-spec.h"

#include "ns3_env/cpp/engine/flow.h"
#include "ns3_env/cpp/events/now.h"

#include <functional>
#include <vector>

namespace ns3::env
{

/// A flow is over, for tasks that wait for it, when its receiver has its last byte: the next step of a collective needs
/// the data, not the sender's knowledge of them. A task starts when as many of its dependencies are over as it needs,
/// not before its start; a flow then starts after its delay, a step is over after its own.
class Dependencies : public DeliveryListener
{
  public:
    /// \param spec outlives this \param flows how many \param start starts a flow that has waited, now
    /// \param stepsOver called when the last step is over
    Dependencies(const DependencySpec& spec,
                 size_t flows,
                 std::function<void(uint32_t flow)> start,
                 std::function<void()> stepsOver);

    /// Number of waiting flows that have not started.
    size_t FlowsLeft() const { return m_flowsLeft; }
    bool AreStepsOver() const { return m_stepsLeft == 0; }

    /// Schedules tasks that wait for no other.
    void Begin();
    void OnDelivered(const Flow& flow) override { OnOver(flow.Id()); }
    /// Called for a new flow without dependencies, which starts now or soon.
    virtual void OnCreated(uint32_t /* flow */) {}

    /// -1: not yet
    Picos Delivered(uint32_t flow) const { return m_end[flow]; }
    Picos StepStart(size_t step) const { return m_stepStart[step]; }
    Picos StepEnd(size_t step) const { return m_end[m_flows + step]; }

  protected:
    /// Releases the task, whose dependencies are all done.
    virtual void Release(uint32_t task);
    /// The task's delay is over: a flow starts, a step ends.
    virtual void OnDelayOver(uint32_t task);
    /// Notes that the task is over now.
    virtual void OnOver(uint32_t task);

    const DependencySpec& Spec() const { return m_spec; }
    bool IsStep(uint32_t task) const { return task >= m_flows; }
    const std::vector<uint32_t>& WaitingFor(uint32_t task) const { return m_next[task]; }
    /// Notes that one dependency of `task` is over. \returns whether it was the last that it needs
    bool CountOff(uint32_t task) { return m_left[task] > 0 && --m_left[task] == 0; }
    /// Notes the start of a task that was released at `released`. \returns when its delay will be over
    Picos NoteBegin(uint32_t task, Picos released);
    void NoteEnd(uint32_t task) { m_end[task] = NowPicos(); }
    Picos End(uint32_t task) const { return m_end[task]; }
    void Start(uint32_t flow) { m_start(flow); }
    void CountFlow() { --m_flowsLeft; }
    void CountStep();

  private:
    const DependencySpec& m_spec;
    size_t m_flows;
    std::function<void(uint32_t)> m_start;
    std::function<void()> m_stepsOver;
    std::vector<uint32_t> m_left;              ///< by task: of those it waits for
    std::vector<std::vector<uint32_t>> m_next; ///< by task: those that wait for it
    std::vector<Picos> m_end;                  ///< by task
    std::vector<Picos> m_stepStart;
    size_t m_flowsLeft{0};
    size_t m_stepsLeft;
};

} // namespace ns3::env
