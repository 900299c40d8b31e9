// SPDX-License-Identifier: GPL-2.0-or-later
// Shared-buffer manager of a switch: admission, dynamic thresholds, pauses of a neighbour.
#include "shared-buffer.h"

namespace ns3::env::rdma
{

SharedBuffer::SharedBuffer(const SharedBufferConfig& config)
    : m_config(config)
{
}

void
SharedBuffer::AddPort(uint64_t headroomBytes, uint32_t alphaShift, bool pauses)
{
    m_ports.push_back({headroomBytes, 0, 0, alphaShift, m_config.pfc && pauses, false});
    m_committed += headroomBytes + m_config.reserveBytes;
}

} // namespace ns3::env::rdma
