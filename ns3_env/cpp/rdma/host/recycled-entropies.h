// SPDX-License-Identifier: GPL-2.0-or-later
// Path entropies that a sender uses again once their packets are acknowledged (REPS, Bonato 2025).
#pragma once

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/random-source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/// The entropies, source ports that switches hash, of a sender's next packets. That of an ACK without a mark is used for
/// one more packet, oldest first; without any a packet gets a random one, and so do the first packets, of a BDP. After a
/// loss the sender freezes: until a time has passed it repeats the last ones instead of random ones. The paper's cache has
/// eight; here it has those of a BDP, as windows that wait for the first missing packet send in bursts.
class RecycledEntropies
{
  public:
    /// \param bdpPackets packets of a BDP
    /// \param freezing how long a sender is frozen
    RecycledEntropies(uint64_t seed, uint32_t flow, uint64_t bdpPackets, Picos freezing)
        : m_random(seed, flow, STREAM),
          m_cache(std::max<uint64_t>(bdpPackets, LEAST)),
          m_bdpPackets(bdpPackets),
          m_explore(bdpPackets),
          m_freezing(freezing)
    {
    }

    /// The entropy of the packet that leaves now.
    uint16_t Next()
    {
        if (m_explore > 0)
        {
            --m_explore;
            return Draw();
        }
        if (m_fresh > 0)
        {
            return m_cache[(m_head - m_fresh--) % m_cache.size()];
        }
        const size_t filled = std::min(m_head, m_cache.size());
        return m_isFrozen && filled > 0 ? m_cache[m_repeat++ % filled] : Draw();
    }

    /// A packet with this entropy has arrived.
    void OnAck(uint16_t entropy, bool marked, Picos now)
    {
        if (!marked)
        {
            m_cache[m_head++ % m_cache.size()] = entropy;
            m_fresh += m_fresh < m_cache.size() ? 1 : 0;
        }
        if (m_isFrozen && now >= m_frozenUntil)
        {
            m_isFrozen = false;
            m_explore = m_bdpPackets;
        }
    }

    /// A packet counts as lost: its path may have failed.
    void OnLoss(Picos now)
    {
        if (!m_isFrozen && m_explore == 0)
        {
            m_isFrozen = true;
            m_frozenUntil = now + m_freezing;
        }
    }

  private:
    static constexpr uint64_t LEAST = 8;
    static constexpr uint32_t STREAM = UINT32_MAX - 1;
    static constexpr double VALUES = 65536;

    uint16_t Draw() { return static_cast<uint16_t>(m_random.Draw() * VALUES); }

    PortStream m_random;
    std::vector<uint16_t> m_cache; ///< a ring
    size_t m_head{0};              ///< entropies written so far
    size_t m_fresh{0};             ///< of the last ones, those that were not used again
    size_t m_repeat{0};            ///< frozen: the next to be repeated
    uint64_t m_bdpPackets;
    uint64_t m_explore; ///< packets that get random entropies next
    Picos m_freezing;
    Picos m_frozenUntil{0};
    bool m_isFrozen{false};
};

} // namespace ns3::env::rdma
