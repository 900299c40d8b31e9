// SPDX-License-Identifier: GPL-2.0-or-later
// Shared-buffer manager of a switch: admission, dynamic thresholds, pauses of a neighbour.
#ifndef NS3_ENV_RDMA_NETWORK_SHARED_BUFFER_H
#define NS3_ENV_RDMA_NETWORK_SHARED_BUFFER_H

#include "ns3_env/cpp/contract/switch-config.h"

#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/**
 * Ingress accounting of one switch: a packet counts against its ingress port's reserve, then the
 * shared pool, then the port's headroom, where there is one. One class.
 */
class SharedBuffer
{
  public:
    explicit SharedBuffer(const SharedBufferConfig& config);

    /// Registers the next ingress port: its headroom, and the right shift of its dynamic threshold.
    void AddPort(uint64_t headroomBytes, uint32_t alphaShift);

    /// Reserves and headrooms together; a buffer smaller than this is a configuration error.
    uint64_t CommittedBytes() const { return m_committed; }
    uint64_t UsedBytes() const { return m_used; }

    /// False where the packet must be dropped: headroom and threshold are both exceeded, though the reserve may be free; or
    /// the pool is full.
    bool Admits(uint32_t port, uint32_t bytes) const;
    void Add(uint32_t port, uint32_t bytes);
    void Remove(uint32_t port, uint32_t bytes);

    /// Bytes of the pool that are free.
    uint64_t FreeBytes() const;
    /// Dynamic threshold of a port's share of the pool, in bytes.
    uint64_t Threshold(uint32_t port) const { return FreeBytes() >> m_ports[port].alphaShift; }
    /// True where the port's neighbour is to be paused now, which counts as done.
    bool TakePause(uint32_t port);
    /// True where it is paused and is to be resumed now, which counts as done.
    bool TakeResume(uint32_t port);
    /// The neighbour knows of no pause any more.
    void ForgetPause(uint32_t port) { m_ports[port].pausing = false; }

    /// Pool bytes that a port holds.
    uint64_t SharedBytes(uint32_t port) const;
    uint64_t HeadroomUsed(uint32_t port) const { return m_ports[port].headroomUsed; }

  private:
    struct Ingress
    {
        uint64_t headroomLimit;
        uint64_t headroomUsed;
        uint64_t bytes; ///< in reserve and pool
        uint32_t alphaShift;
        bool pausing; ///< its neighbour
    };

    bool MustPause(uint32_t port) const;
    bool MayResume(uint32_t port) const;

    SharedBufferConfig m_config;
    std::vector<Ingress> m_ports;
    uint64_t m_committed{0};
    uint64_t m_sharedUsed{0};
    uint64_t m_used{0};
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_NETWORK_SHARED_BUFFER_H
