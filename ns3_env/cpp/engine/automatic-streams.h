// SPDX-License-Identifier: GPL-2.0-or-later
// Random streams that ns-3 numbers by itself, of one of several networks.
#pragma once

#include "ns3/rng-seed-manager.h"

#include <cstdint>
#include <optional>

namespace ns3::env
{

/// The run of a network, and the number of its streams so far: ns-3 has only those of its process.
class AutomaticStreams
{
  public:
    /// ns-3's numbers are this network's until Use() was called once.
    explicit AutomaticStreams(uint64_t run)
        : m_run(run)
    {
    }

    /// \returns what `make` returns, whose streams are this network's next ones
    template <class Make>
    auto Use(Make make)
    {
        if (m_next)
        {
            RngSeedManager::SetRun(m_run);
            RngSeedManager::ResetNextStreamIndex();
            for (uint64_t i = 0; i < *m_next; ++i)
            {
                RngSeedManager::GetNextStreamIndex();
            }
        }
        auto made = make();
        m_next = RngSeedManager::GetNextStreamIndex();
        return made;
    }

  private:
    uint64_t m_run;
    std::optional<uint64_t> m_next;
};

} // namespace ns3::env
