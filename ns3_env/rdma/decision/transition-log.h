// SPDX-License-Identifier: GPL-2.0-or-later
// What was decided in the simulator? Rows and actions, handed across the channel a full region at a time.
#ifndef RDMA_TRANSITION_LOG_H
#define RDMA_TRANSITION_LOG_H

#include "interruption.h"

#include "ns3_env/rdma/contract/units.h"

namespace ns3::rdma
{

/// Fills the channel's region and has it read whenever it is full.
class TransitionLog
{
  public:
    explicit TransitionLog(Interruptible& channel)
        : m_channel(channel)
    {
    }

    /// \param action what was done; of a row that needs none, anything
    /// \return false where the episode is to be given up
    bool Add(const DecisionRow& row, const ActionRow& action, Picos now);
    /// Hands over what is left.
    bool Flush(Picos now);

  private:
    Interruptible& m_channel;
    size_t m_count{0};
};

} // namespace ns3::rdma

#endif // RDMA_TRANSITION_LOG_H
