// SPDX-License-Identifier: GPL-2.0-or-later
// Who decides for the flows that are due? Collects them and exchanges one batch for its actions.
#ifndef RDMA_DECISION_BROKER_H
#define RDMA_DECISION_BROKER_H

#include "simulator-end.h"

#include "ns3_env/rdma/model/queue-pair.h"

#include <optional>
#include <vector>

namespace ns3::rdma
{

class AgentController;

/// The other side asked for an end of the episode.
enum class Interruption : uint8_t
{
    None,
    Reset,
    Close,
};

/**
 * Between the agent controllers of one episode and the channel. A flow that is due is held back until
 * its action has come; all flows due at one instant (or within the quantum) make one batch.
 */
class DecisionBroker
{
  public:
    /// \param quantum decisions due within this time make one batch; without one each is exchanged on
    ///        the spot, inside its ACK's event, as a controller in the simulator decides
    DecisionBroker(SimulatorEnd& channel, std::optional<Picos> quantum);

    /// The flow wants a decision; it may not send until it has one.
    void RequestDecision(AgentController& agent, Picos now);
    /// The flow is over: its last row goes with the next batch.
    void ReportEnd(AgentController& agent, uint32_t flag, Picos now);
    /// Hands over what has been collected, now.
    void Flush();

    /// Set once the agent has answered with Reset or Close; the simulation has been told to stop.
    Interruption Interrupted() const { return m_interruption; }

  private:
    struct Pending
    {
        AgentController* agent; ///< null for a row that needs no action
        DecisionRow row;
    };

    void ScheduleFlush();
    void Exchange();
    void ExchangePart(std::vector<Pending>& batch);

    SimulatorEnd& m_channel;
    std::optional<Picos> m_quantum;
    bool m_scheduled{false};
    std::vector<Pending> m_pending;
    Interruption m_interruption{Interruption::None};
};

} // namespace ns3::rdma

#endif // RDMA_DECISION_BROKER_H
