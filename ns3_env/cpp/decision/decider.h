// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of a decider, which answers flows that are due with actions.
#ifndef NS3_ENV_DECISION_DECIDER_H
#define NS3_ENV_DECISION_DECIDER_H

#include "ns3_env/cpp/channel/channel-layout.h"
#include "ns3_env/cpp/contract/units.h"

#include <span>

namespace ns3::env
{

/// Answers batches of rows.
class Decider
{
  public:
    virtual ~Decider() = default;

    /**
     * \param rows flows that are due, and flows whose episode is over
     * \param actions one is to be written for each row that needs one, in their order
     * \return false where the episode is to be given up
     */
    virtual bool
    Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now) = 0;
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_DECIDER_H
