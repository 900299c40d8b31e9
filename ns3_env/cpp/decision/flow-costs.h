// SPDX-License-Identifier: GPL-2.0-or-later
// The cost of a single flow: its time over its ideal completion time.
#pragma once

#include "ns3_env/cpp/engine/flow.h"

namespace ns3::env
{

/// Share of a flow's bytes that are not acknowledged.
inline double
ShareLeft(const FlowState& flow)
{
    return static_cast<double>(flow.SizeBytes() - flow.AckedBytes()) /
           static_cast<double>(flow.SizeBytes());
}

/// Cost of a flow per ps; it has an ideal completion time.
inline double
CostRate(const Flow& flow)
{
    return 1.0 / static_cast<double>(flow.Standalone());
}

} // namespace ns3::env
