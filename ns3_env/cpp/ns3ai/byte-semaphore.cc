// SPDX-License-Identifier: GPL-2.0-or-later
// ns3-ai's semaphores of one byte, waited for without keeping a core busy.
#include "byte-semaphore.h"

#include "ns3_env/cpp/channel/futex.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ns3::env::ns3ai
{

namespace
{

constexpr int64_t LEAST_NAP_NS = 20'000;
constexpr int64_t LONGEST_NAP_NS = 2'000'000;
constexpr int64_t WAITED_TO_NAP = 8; ///< a nap is this part of what was waited already

static_assert(offsetof(SyncBlock, toPythonEmpty) == 0 && offsetof(SyncBlock, finished) == 4,
              "the four semaphores are one word");

/// The four semaphores as a futex; null where the word is not aligned as a futex must be.
std::atomic<uint32_t>*
WordOf(SyncBlock& block)
{
    const auto address = reinterpret_cast<uintptr_t>(&block);
    return address % sizeof(uint32_t) == 0 ? reinterpret_cast<std::atomic<uint32_t>*>(address)
                                           : nullptr;
}

bool
TryTake(volatile uint8_t& semaphore)
{
    uint8_t value = __atomic_load_n(&semaphore, __ATOMIC_SEQ_CST);
    while (value > 0)
    {
        if (__atomic_compare_exchange_n(&semaphore,
                                        &value,
                                        static_cast<uint8_t>(value - 1),
                                        false,
                                        __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        {
            return true;
        }
    }
    return false;
}

} // namespace

void
Post(SyncBlock& block, volatile uint8_t& semaphore)
{
    __atomic_fetch_add(&semaphore, uint8_t{1}, __ATOMIC_SEQ_CST);
    if (std::atomic<uint32_t>* word = WordOf(block))
    {
        syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
}

bool
ByteWait::Take(SyncBlock& block, volatile uint8_t& semaphore, int64_t timeoutNs)
{
    const bool goesOn = m_since != 0;
    if (goesOn ? TryTake(semaphore) : m_spin.AwaitUntil([&] { return TryTake(semaphore); }))
    {
        m_since = 0;
        return true;
    }
    const int64_t began = MonotonicNs();
    if (!goesOn)
    {
        m_since = began;
    }
    std::atomic<uint32_t>* word = WordOf(block);
    for (int64_t now = began; now - began < timeoutNs; now = MonotonicNs())
    {
        const int64_t nap =
            std::clamp((now - m_since) / WAITED_TO_NAP, LEAST_NAP_NS, LONGEST_NAP_NS);
        const uint32_t seen = word ? word->load(std::memory_order_seq_cst) : 0;
        if (TryTake(semaphore))
        {
            m_since = 0;
            return true;
        }
        if (word)
        {
            FutexWait(*word, seen, nap);
        }
        else
        {
            const timespec time{0, nap};
            nanosleep(&time, nullptr);
        }
    }
    return false;
}

} // namespace ns3::env::ns3ai
