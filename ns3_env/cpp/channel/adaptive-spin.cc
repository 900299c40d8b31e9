// SPDX-License-Identifier: GPL-2.0-or-later
// A short spin on a shared word before sleeping, which learns where spinning does not pay.
#include "adaptive-spin.h"

#include <algorithm>
#include <sched.h>

namespace ns3::env
{

namespace
{

constexpr int64_t MAX_SPIN_NS =
    20'000; // a sleeping wake-up costs about 45 us, a spun one less than 1
constexpr int64_t MIN_SPIN_NS = 2'000;
constexpr uint32_t WAITS_BETWEEN_PROBES = 64;

} // namespace

AdaptiveSpin::AdaptiveSpin()
    : m_budgetNs(MAX_SPIN_NS)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    m_alone = sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) < 2;
}

int64_t
AdaptiveSpin::Budget()
{
    if (m_alone)
    {
        return 0;
    }
    if (m_budgetNs < MIN_SPIN_NS)
    {
        // Given up: try again now and then, for the work between two messages may have changed.
        if (++m_idleWaits < WAITS_BETWEEN_PROBES)
        {
            return 0;
        }
        m_idleWaits = 0;
        return MAX_SPIN_NS;
    }
    return m_budgetNs;
}

void
AdaptiveSpin::Learn(bool paid)
{
    // A spin that fails has cost its whole budget and the peer perhaps its core: give up faster than we start.
    m_budgetNs =
        paid ? std::min(MAX_SPIN_NS, std::max(m_budgetNs, MIN_SPIN_NS) * 2) : m_budgetNs / 2;
}

bool
AdaptiveSpin::Await(const std::atomic<uint32_t>& word, uint32_t seen)
{
    return AwaitUntil([&] { return word.load(std::memory_order_acquire) != seen; });
}

} // namespace ns3::env
