// SPDX-License-Identifier: GPL-2.0-or-later
// Who may use a switch's memory, and when must a neighbour pause? The shared-buffer manager.
#ifndef RDMA_SHARED_BUFFER_H
#define RDMA_SHARED_BUFFER_H

#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// What may an ingress port take beyond its reserve?
enum class PoolSharing : uint8_t
{
    Thresholds, ///< up to a share of what is free, then its headroom: a pause reaches the peer in time
    Complete, ///< whatever is free: nothing is kept for a pause that never comes
};

/// Sizes and thresholds of a switch's memory (docs/sources/published-simulator.md, "Switch").
struct SharedBufferConfig
{
    uint64_t bufferBytes{32ULL << 20};
    uint32_t reserveBytes{4096}; ///< of each ingress port
    uint32_t resumeOffsetBytes{3072};
    uint32_t alphaShift{3}; ///< threshold = free >> shift at the rate of the hosts' links
    bool pfc{true};
    PoolSharing sharing{PoolSharing::Thresholds}; ///< the network's rules say it (NetworkRules)
    /// Full frames of headroom beyond 3 * rate * delay: one that the peer has begun when the pause
    /// arrives, one that the pause had to wait for. The published simulator has none, and so can drop
    /// packets where a link holds less than a frame.
    uint32_t headroomFrames{2};
};

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

    /// False where the packet must be dropped: headroom and threshold are both exceeded, or the pool is full.
    bool Admits(uint32_t port, uint32_t bytes) const;
    void Add(uint32_t port, uint32_t bytes);
    void Remove(uint32_t port, uint32_t bytes);

    /// Bytes of the pool that nobody holds.
    uint64_t FreeBytes() const;
    /// Dynamic threshold of a port's share of the pool, in bytes.
    uint64_t Threshold(uint32_t port) const { return FreeBytes() >> m_ports[port].alphaShift; }
    bool ShouldPause(uint32_t port) const;
    bool ShouldResume(uint32_t port) const;

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
    };

    SharedBufferConfig m_config;
    std::vector<Ingress> m_ports;
    uint64_t m_committed{0};
    uint64_t m_sharedUsed{0};
    uint64_t m_used{0};
};

} // namespace ns3::rdma

#endif // RDMA_SHARED_BUFFER_H
