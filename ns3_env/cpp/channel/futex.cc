// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeping and waking by Linux futexes on words of the shared region.
#include "futex.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ns3::env
{

namespace
{

// A sleeping wake-up costs about 45 us, a spun one less than 1; either side's work in a turn takes 10 to 80.
constexpr int64_t MAX_SPIN_NS = 100'000;
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
        // Spinning was given up: retry now and then, as the work between two messages may have changed.
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
    // A failed spin costs its whole budget, and perhaps the peer its core: give up faster than start.
    // One that pays shows the present length of a turn, for which half a budget may be too short.
    m_budgetNs = paid ? MAX_SPIN_NS : m_budgetNs / 2;
}

bool
AdaptiveSpin::Await(const std::atomic<uint32_t>& word, uint32_t seen)
{
    return AwaitUntil([&] { return word.load(std::memory_order_acquire) != seen; });
}

namespace
{

timespec
ToTimespec(int64_t ns)
{
    timespec t{};
    t.tv_sec = ns / 1'000'000'000;
    t.tv_nsec = ns % 1'000'000'000;
    return t;
}

void
Wait(const std::atomic<uint32_t>& word, uint32_t seen, const timespec* timeout)
{
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, timeout, nullptr, 0);
}

} // namespace

void
FutexWait(const std::atomic<uint32_t>& word, uint32_t seen)
{
    Wait(word, seen, nullptr);
}

void
FutexWait(const std::atomic<uint32_t>& word, uint32_t seen, int64_t timeoutNs)
{
    const timespec timeout = ToTimespec(timeoutNs);
    Wait(word, seen, &timeout);
}

void
FutexWaitAny(const std::vector<FutexWord>& words, int64_t timeoutNs)
{
#if defined(SYS_futex_waitv) && defined(FUTEX_32)
    if (words.size() <= 128) // FUTEX_WAITV_MAX
    {
        std::vector<futex_waitv> waiters(words.size());
        for (size_t i = 0; i < words.size(); ++i)
        {
            waiters[i].val = words[i].seen;
            waiters[i].uaddr = reinterpret_cast<uintptr_t>(words[i].word);
            waiters[i].flags = FUTEX_32;
        }
        const timespec deadline = ToTimespec(MonotonicNs() + timeoutNs);
        const long rc =
            syscall(SYS_futex_waitv, waiters.data(), waiters.size(), 0, &deadline, CLOCK_MONOTONIC);
        if (rc >= 0 || errno != ENOSYS)
        {
            return;
        }
    }
#endif
    // Before Linux 5.16: sleep on one of them, briefly; the caller checks the other words in between.
    FutexWait(*words.front().word, words.front().seen, std::min<int64_t>(timeoutNs, 200'000));
}

void
FutexAdvance(std::atomic<uint32_t>& sequence, const std::atomic<uint32_t>& peerSleeps)
{
    sequence.store(sequence.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    if (peerSleeps.load(std::memory_order_seq_cst) != 0)
    {
        syscall(SYS_futex, &sequence, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
}

} // namespace ns3::env
