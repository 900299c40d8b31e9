// SPDX-License-Identifier: GPL-2.0-or-later
// Specification of a flow: its ends, size and start.
#pragma once

#include "ns3_env/cpp/contract/flow-state.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>

namespace ns3::env
{

struct FlowSpec
{
    uint32_t id{0};
    uint32_t source{0};      ///< node id
    uint32_t destination{0}; ///< node id
    uint64_t sizeBytes{0};   ///< ENDLESS_BYTES for an endless flow
    Picos start{0};
    uint8_t trafficClass{0}; ///< index; 0 if there is one

    bool IsEndless() const { return sizeBytes == ENDLESS_BYTES; }
};

} // namespace ns3::env
