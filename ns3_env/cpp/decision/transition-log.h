// SPDX-License-Identifier: GPL-2.0-or-later
// Decisions made in the simulator, handed across the channel a full region at a time.
#ifndef NS3_ENV_DECISION_TRANSITION_LOG_H
#define NS3_ENV_DECISION_TRANSITION_LOG_H

#include "interruption.h"

#include "ns3_env/cpp/contract/units.h"

namespace ns3::env
{

/// Fills the channel's region and has it read whenever it is full.
class TransitionLog
{
  public:
    explicit TransitionLog(EpisodeChannel& channel)
        : m_channel(channel)
    {
    }

    /// \param action what was done; of a row that needs none, anything
    /// \return false where the episode is to be given up
    bool Add(const DecisionRow& row, const ActionRow& action, Picos now);
    /// Hands over what is left.
    bool Flush(Picos now);

  private:
    EpisodeChannel& m_channel;
    size_t m_count{0};
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_TRANSITION_LOG_H
