// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the flows or ports that are due for a decision and has them answered in one batch.
#pragma once

#include "subject.h"

#include "ns3_env/cpp/channel/channel-layout.h"
#include "ns3_env/cpp/contract/units.h"

#include <optional>
#include <span>
#include <vector>

namespace ns3::env
{

class DecidingController;

/// Answers batches of rows.
class Decider
{
  public:
    virtual ~Decider() = default;

    /// A flow under this policy will start.
    virtual void Adopt(uint32_t, DecidingController&) {}
    /// \param rows flows that are due, and flows whose episode is over
    /// \param actions one is to be written for each row that needs one, in their order
    /// \return false if the episode is to be aborted
    virtual bool
    Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now) = 0;
};

/// Connects the subjects of one policy with its decider. A flow that is due is paused until its action arrives; all
/// flows due at one instant (or within the quantum) make one batch. In a network in parts, where one broker serves
/// several hosts, all that are due in a window make one at its end, in the order of their times and numbers.
class DecisionBroker
{
  public:
    /// \param quantum decisions due within this time form one batch; without one each is answered on
    ///        the spot, inside its ACK's event, as a controller in the simulator decides
    /// \param waits for the end of a window, if there are windows: its flows are of several hosts
    DecisionBroker(Decider& decider, std::optional<Picos> quantum, bool waits);

    /// The subject needs a decision; a flow may not send until it has one.
    void RequestDecision(Subject& agent, Picos now);
    /// Reports the subject's end: its last row is part of the next batch.
    void ReportEnd(Subject& agent, uint32_t flag, Picos now);
    /// Submits the collected decisions now.
    void Flush();

  private:
    void Collect(Subject& agent, const DecisionRow& row);
    void CollectEnd(Subject& agent, DecisionRow row);
    bool WaitsForWindow() const;
    void ScheduleFlush();
    void Exchange();

    Decider& m_decider;
    std::optional<Picos> m_quantum;
    bool m_waits;
    bool m_scheduled{false};
    bool m_givenUp{false};
    // Of the batch that is collected: rows, and their subjects (null for a row that needs no action).
    std::vector<DecisionRow> m_rows;
    std::vector<Subject*> m_agents;
    // Buffers of the present batch, reused to avoid allocations.
    std::vector<DecisionRow> m_batchRows;
    std::vector<Subject*> m_batchAgents;
    std::vector<ActionRow> m_actions;
};

} // namespace ns3::env
