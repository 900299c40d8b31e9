// SPDX-License-Identifier: GPL-2.0-or-later
// Doorbell of a simulator that plays several networks: its futex word and its sign of life.
#pragma once

#include "futex.h"
#include "shared-region.h"

#include <atomic>
#include <cstdint>
#include <new>

namespace ns3::env
{

/// The bell of a process with a channel for each of its networks. The agent writes any number of commands, and rings
/// once.
class Doorbell
{
  public:
    /// The agent's: creates the region. \throws ChannelError
    Doorbell()
        : m_region(SharedRegion::Create("ns3_env-bell", sizeof(Words))),
          m_words(new (m_region.Data()) Words{})
    {
    }
    /// The simulator's: maps the inherited region. \throws ChannelError
    explicit Doorbell(int fd)
        : m_region(SharedRegion::Map(fd, sizeof(Words))),
          m_words(reinterpret_cast<Words*>(m_region.Data()))
    {
    }

    int Fd() const { return m_region.Fd(); }

    /// Wakes the simulator if it sleeps.
    void Ring() { FutexAdvance(m_words->rings, m_words->sleeps); }
    /// Number of rings so far.
    uint32_t Rings() const { return m_words->rings.load(std::memory_order_acquire); }
    /// Waits until there were more rings than `seen`.
    void Await(uint32_t seen)
    {
        if (m_spin.Await(m_words->rings, seen))
        {
            return;
        }
        m_words->sleeps.store(1, std::memory_order_seq_cst);
        while (m_words->rings.load(std::memory_order_seq_cst) == seen)
        {
            FutexWait(m_words->rings, seen);
        }
        m_words->sleeps.store(0, std::memory_order_relaxed);
    }

    /// Notes whose commands are carried out: the number of a channel.
    void SetPlayed(uint32_t network) { m_words->played.store(network, std::memory_order_relaxed); }
    uint32_t Played() const { return m_words->played.load(std::memory_order_relaxed); }
    /// Progress of all networks together: of one that waits for its turn, too.
    std::atomic<uint64_t>& Heartbeat() { return m_words->heartbeat; }

  private:
    struct Words
    {
        alignas(64) std::atomic<uint32_t> rings;
        alignas(64) std::atomic<uint32_t> sleeps; ///< the simulator is in a futex wait for rings
        std::atomic<uint32_t> played;
        std::atomic<uint64_t> heartbeat;
    };

    SharedRegion m_region;
    Words* m_words;
    AdaptiveSpin m_spin;
};

} // namespace ns3::env
