// SPDX-License-Identifier: GPL-2.0-or-later
// Which classes of a port its peer has paused, and for how long.
#pragma once

#include "ns3_env/cpp/contract/traffic-class.h"
#include "ns3_env/cpp/contract/units.h"

#include <array>
#include <cstdint>

namespace ns3::env::rdma
{

/// Pause state of each class at one end of a link.
class ClassPauses
{
  public:
    bool Any() const { return m_paused != 0; }
    bool Of(uint32_t which) const { return (m_paused >> which & 1) != 0; }
    uint64_t Frames(uint32_t which) const { return m_accounts[which].frames; }

    /// Handles an arriving pause or resume frame.
    void OnFrame(uint32_t which, bool paused, Picos now)
    {
        Account& own = m_accounts[which];
        own.frames += paused ? 1 : 0;
        if (paused == Of(which))
        {
            return;
        }
        m_paused ^= 1U << which;
        own.total += paused ? -now : now; // the sum of ends minus the sum of starts
    }

    /// Ends all pauses, as the link has failed.
    void ReleaseAll(Picos now)
    {
        for (uint32_t i = 0; i < MOST_CLASSES; ++i)
        {
            OnFrame(i, false, now);
        }
    }

    /// Time for which the class has been paused, up to now.
    Picos Time(uint32_t which, Picos now) const
    {
        return m_accounts[which].total + (Of(which) ? now : 0);
    }

  private:
    struct Account
    {
        Picos total{0};
        uint64_t frames{0};
    };

    uint32_t m_paused{0}; ///< a bit per class
    std::array<Account, MOST_CLASSES> m_accounts{};
};

} // namespace ns3::env::rdma
