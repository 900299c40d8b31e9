// SPDX-License-Identifier: GPL-2.0-or-later
// Decider that asks a policy in another process, across the channel.
#ifndef NS3_ENV_DECISION_CHANNEL_DECIDER_H
#define NS3_ENV_DECISION_CHANNEL_DECIDER_H

#include "decider.h"
#include "interruption.h"

namespace ns3::env
{

/// Exchanges rows for actions across the channel.
class ChannelDecider final : public Decider
{
  public:
    explicit ChannelDecider(EpisodeChannel& channel)
        : m_channel(channel)
    {
    }

    bool
    Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now) override;

  private:
    EpisodeChannel& m_channel;
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_CHANNEL_DECIDER_H
