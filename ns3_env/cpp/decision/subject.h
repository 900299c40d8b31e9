// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of what a policy decides for: a flow, or a port of a switch.
#pragma once

#include "ns3_env/cpp/channel/channel-layout.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>

namespace ns3::env
{

/// Subject of decisions, which the broker observes and on which it applies actions.
class Subject
{
  public:
    virtual ~Subject() = default;

    /// The subject's row, which starts its next interval.
    /// \param end a RowFlag, if it is the subject's last row; 0 if not
    virtual DecisionRow MakeRow(Picos now, uint32_t end) = 0;
    virtual void Apply(const ActionRow& action) = 0;
    /// Order among subjects that are due at the same instant.
    virtual uint32_t Number() const = 0;
    /// The node that it belongs to.
    virtual uint32_t Host() const = 0;
};

} // namespace ns3::env
