// SPDX-License-Identifier: GPL-2.0-or-later
// Shared-buffer manager of a switch: admission, dynamic thresholds, pauses of a neighbour.
#pragma once

#include "ns3_env/cpp/contract/switch-config.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/// Ingress accounting of one switch: a packet counts against its ingress port's reserve, then the
/// shared pool, then the port's headroom, if there is one. Written for one class; with several, each class of a port is
/// a port here.
class SharedBuffer
{
  public:
    explicit SharedBuffer(const SharedBufferConfig& config)
        : m_config(config)
    {
    }

    /// Registers the next ingress port: its headroom, the right shift of its dynamic threshold, and whether it may ask for
    /// pauses, if the switch has them.
    void AddPort(uint64_t headroomBytes, uint32_t alphaShift, bool pauses = true)
    {
        m_ports.push_back({headroomBytes, 0, 0, alphaShift, m_config.pfc && pauses, false});
        m_committed += headroomBytes + m_config.reserveBytes;
    }

    /// Reserves and headrooms together; a buffer smaller than this is a configuration error.
    uint64_t CommittedBytes() const { return m_committed; }
    uint64_t UsedBytes() const { return m_used; }

    /// Returns false if the packet must be dropped: headroom and threshold are both exceeded, though the reserve may be
    /// free; or the pool is full.
    [[gnu::always_inline]] bool Admits(uint32_t port, uint32_t bytes) const;
    /// Reports whether adding and removing a packet would change nothing, and request no pause: it need not be counted.
    [[gnu::always_inline]] bool LetsPass(uint32_t port, uint32_t bytes) const;
    [[gnu::always_inline]] void Add(uint32_t port, uint32_t bytes);
    [[gnu::always_inline]] void Remove(uint32_t port, uint32_t bytes);

    /// Bytes of the pool that are free.
    [[gnu::always_inline]] uint64_t FreeBytes() const;
    /// Dynamic threshold of a port's share of the pool, in bytes.
    uint64_t Threshold(uint32_t port) const { return FreeBytes() >> m_ports[port].alphaShift; }
    /// Returns true if the port's neighbour has to be paused now; it then counts as paused.
    [[gnu::always_inline]] bool TakePause(uint32_t port);
    /// Returns true if it is paused and has to be resumed now; it then counts as resumed.
    [[gnu::always_inline]] bool TakeResume(uint32_t port);
    /// Reports whether the port's neighbour is to be paused, and whether the port's bytes let it resume.
    bool IsPausing(uint32_t port) const { return m_ports[port].pausing; }
    [[gnu::always_inline]] bool MayResume(uint32_t port) const;
    /// Forgets that the neighbour was paused.
    void ForgetPause(uint32_t port) { m_ports[port].pausing = false; }

    /// Pool bytes that a port uses.
    [[gnu::always_inline]] uint64_t SharedBytes(uint32_t port) const;
    uint64_t HeadroomUsed(uint32_t port) const { return m_ports[port].headroomUsed; }

  private:
    struct Ingress
    {
        uint64_t headroomLimit;
        uint64_t headroomUsed;
        uint64_t bytes; ///< in reserve and pool
        uint32_t alphaShift;
        bool pauses;  ///< whether it may pause its neighbour
        bool pausing; ///< pauses its neighbour
    };

    /// Bytes in the pool, of a port's `bytes`.
    [[gnu::always_inline]] uint64_t BeyondReserve(uint64_t bytes) const;
    [[gnu::always_inline]] bool MustPause(uint32_t port) const;

    SharedBufferConfig m_config;
    std::vector<Ingress> m_ports;
    uint64_t m_committed{0};
    uint64_t m_sharedUsed{0};
    uint64_t m_used{0};
};

// Of every hop: inlined at every caller.

inline uint64_t
SharedBuffer::FreeBytes() const
{
    const uint64_t taken = m_committed + m_sharedUsed;
    return m_config.bufferBytes > taken ? m_config.bufferBytes - taken : 0;
}

inline uint64_t
SharedBuffer::SharedBytes(uint32_t port) const
{
    return BeyondReserve(m_ports[port].bytes);
}

inline uint64_t
SharedBuffer::BeyondReserve(uint64_t bytes) const
{
    return bytes > m_config.reserveBytes ? bytes - m_config.reserveBytes : 0;
}

inline bool
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

inline bool
SharedBuffer::LetsPass(uint32_t port, uint32_t bytes) const
{
    const Ingress& in = m_ports[port];
    const uint64_t shared = BeyondReserve(in.bytes + bytes);
    // The packet itself lowers the threshold, by its own length at most.
    return in.headroomUsed == 0 && !in.pausing && shared + bytes + 1 < Threshold(port);
}

inline void
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

inline void
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

inline bool
SharedBuffer::TakePause(uint32_t port)
{
    bool& pausing = m_ports[port].pausing;
    const bool now = !pausing && MustPause(port);
    pausing |= now;
    return now;
}

inline bool
SharedBuffer::TakeResume(uint32_t port)
{
    bool& pausing = m_ports[port].pausing;
    const bool now = pausing && MayResume(port);
    pausing &= !now;
    return now;
}

inline bool
SharedBuffer::MustPause(uint32_t port) const
{
    const Ingress& in = m_ports[port];
    return in.pauses && (in.headroomUsed > 0 || SharedBytes(port) >= Threshold(port));
}

inline bool
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
