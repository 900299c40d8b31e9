// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of an egress port whose ECN thresholds an agent sets while the network runs.
#pragma once

#include "ns3_env/cpp/contract/switch-config.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>

namespace ns3::env
{

/// An egress port of a switch: its counters since the start of the run, and its thresholds.
class MarkingPort
{
  public:
    virtual ~MarkingPort() = default;

    virtual double RateBps() const = 0;
    virtual uint64_t TxBytes() const = 0;
    /// Bytes of the data packets that left with a mark of this port.
    virtual uint64_t MarkedBytes() const = 0;
    virtual uint64_t QueueBytes() const = 0;
    /// Integral of the queue over time, B ps.
    virtual double QueueArea(Picos now) const = 0;

    virtual MarkingThresholds Thresholds() const = 0;
    /// Applies to the packets that leave from now on.
    virtual void SetThresholds(const MarkingThresholds& thresholds) = 0;
};

} // namespace ns3::env
