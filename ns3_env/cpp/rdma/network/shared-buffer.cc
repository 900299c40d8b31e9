// SPDX-License-Identifier: GPL-2.0-or-later
// Shared-buffer manager of a switch: admission, dynamic thresholds, pauses of a neighbour.
#include "shared-buffer.h"

#include <algorithm>

namespace ns3::env::rdma
{

SharedBuffer::SharedBuffer(const SharedBufferConfig& config)
    : m_config(config)
{
}

void
SharedBuffer::AddPort(uint64_t headroomBytes, uint32_t alphaShift)
{
    m_ports.push_back({headroomBytes, 0, 0, alphaShift, false});
    m_committed += headroomBytes + m_config.reserveBytes;
}

uint64_t
SharedBuffer::FreeBytes() const
{
    const uint64_t taken = m_committed + m_sharedUsed;
    return m_config.bufferBytes > taken ? m_config.bufferBytes - taken : 0;
}

uint64_t
SharedBuffer::SharedBytes(uint32_t port) const
{
    const uint64_t bytes = m_ports[port].bytes;
    return bytes > m_config.reserveBytes ? bytes - m_config.reserveBytes : 0;
}

bool
SharedBuffer::Admits(uint32_t port, uint32_t bytes) const
{
    const Ingress& in = m_ports[port];
    if (m_config.sharing == PoolSharing::Complete)
    {
        return in.bytes + bytes <= m_config.reserveBytes ||
               std::min<uint64_t>(bytes, in.bytes + bytes - m_config.reserveBytes) <= FreeBytes();
    }
    return in.headroomUsed + bytes <= in.headroomLimit ||
           SharedBytes(port) + bytes <= Threshold(port);
}

void
SharedBuffer::Add(uint32_t port, uint32_t bytes)
{
    Ingress& in = m_ports[port];
    m_used += bytes;
    const uint64_t after = in.bytes + bytes;
    if (after <= m_config.reserveBytes)
    {
        in.bytes = after;
        return;
    }
    if (m_config.sharing == PoolSharing::Thresholds &&
        after - m_config.reserveBytes > Threshold(port))
    {
        in.headroomUsed += bytes;
        return;
    }
    in.bytes = after;
    m_sharedUsed += std::min<uint64_t>(bytes, after - m_config.reserveBytes);
}

void
SharedBuffer::Remove(uint32_t port, uint32_t bytes)
{
    Ingress& in = m_ports[port];
    m_used -= bytes;
    const uint64_t fromHeadroom = std::min<uint64_t>(in.headroomUsed, bytes);
    const uint64_t rest = bytes - fromHeadroom;
    m_sharedUsed -= std::min(rest, SharedBytes(port));
    in.headroomUsed -= fromHeadroom;
    in.bytes -= rest;
}

bool
SharedBuffer::TakePause(uint32_t port)
{
    bool& pausing = m_ports[port].pausing;
    const bool now = !pausing && MustPause(port);
    pausing |= now;
    return now;
}

bool
SharedBuffer::TakeResume(uint32_t port)
{
    bool& pausing = m_ports[port].pausing;
    const bool now = pausing && MayResume(port);
    pausing &= !now;
    return now;
}

bool
SharedBuffer::MustPause(uint32_t port) const
{
    return m_config.pfc && (m_ports[port].headroomUsed > 0 || SharedBytes(port) >= Threshold(port));
}

bool
SharedBuffer::MayResume(uint32_t port) const
{
    if (m_ports[port].headroomUsed > 0)
    {
        return false;
    }
    const uint64_t shared = SharedBytes(port);
    return shared == 0 || shared + m_config.resumeOffsetBytes <= Threshold(port);
}

} // namespace ns3::env::rdma
