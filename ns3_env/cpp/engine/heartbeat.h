// SPDX-License-Identifier: GPL-2.0-or-later
// Heartbeat of the simulator's process: a counter of its progress.
#pragma once

#include <atomic>
#include <cstdint>

namespace ns3::env
{

/// The heartbeat of a process. A listener is optional. The event loop beats every
/// so many events; outside of it, long steps of large networks or of very many flows beat.
class Heartbeat
{
  public:
    /// Reports progress. Call it at least once per second of computing (Python waits up to 30 s),
    /// and never in work that may loop forever.
    static void Beat() noexcept
    {
        s_counter->store(s_counter->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    /// Beats are counted here, as long as this object lives.
    class Listener
    {
      public:
        explicit Listener(std::atomic<uint64_t>& counter)
            : m_before(s_counter)
        {
            s_counter = &counter;
        }
        ~Listener() { s_counter = m_before; }
        Listener(Listener&&) = delete;

      private:
        std::atomic<uint64_t>* m_before;
    };

  private:
    inline static std::atomic<uint64_t> s_unread{0};
    inline static std::atomic<uint64_t>* s_counter{&s_unread};
};

} // namespace ns3::env
