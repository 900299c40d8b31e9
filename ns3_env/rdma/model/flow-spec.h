// SPDX-License-Identifier: GPL-2.0-or-later
// What is a flow, before it exists?
#ifndef RDMA_FLOW_SPEC_H
#define RDMA_FLOW_SPEC_H

#include "ns3_env/rdma/contract/flow-state.h"
#include "ns3_env/rdma/contract/units.h"

#include <cstdint>

namespace ns3::rdma
{

struct FlowSpec
{
    uint32_t id{0};
    uint32_t source{0};      ///< node id
    uint32_t destination{0}; ///< node id
    uint64_t sizeBytes{0};   ///< ENDLESS_BYTES of one that never ends
    Picos start{0};

    bool IsEndless() const { return sizeBytes == ENDLESS_BYTES; }
};

} // namespace ns3::rdma

#endif // RDMA_FLOW_SPEC_H
