// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeping and waking by Linux futexes on words of the shared region.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <vector>

namespace ns3::env
{

/// CLOCK_MONOTONIC in ns.
inline int64_t
MonotonicNs()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// Hints to the core that this is a spin loop.
inline void
Relax()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Spins until `done()`, at most `budgetNs`; false when it gave up.
template <typename Done>
bool
SpinUntil(Done done, int64_t budgetNs)
{
    const int64_t end = MonotonicNs() + budgetNs;
    do
    {
        for (int i = 0; i < 16; ++i)
        {
            Relax();
            if (done())
            {
                return true;
            }
        }
    } while (MonotonicNs() < end);
    return false;
}

/// Spins at most 100 us for a word to change, and learns not to if that does not pay.
class AdaptiveSpin
{
  public:
    AdaptiveSpin();
    /// Returns true as soon as `word` differs from `seen`, false when it stops spinning.
    bool Await(const std::atomic<uint32_t>& word, uint32_t seen);
    /// The same until `done()` is true.
    template <typename Done>
    bool AwaitUntil(Done done);

  private:
    int64_t Budget();
    void Learn(bool paid);

    int64_t m_budgetNs;
    uint32_t m_idleWaits{0};
    bool m_alone; ///< one core only: the peer cannot run while we spin
};

template <typename Done>
bool
AdaptiveSpin::AwaitUntil(Done done)
{
    if (done())
    {
        return true;
    }
    const int64_t budget = Budget();
    if (budget == 0)
    {
        return false;
    }
    const bool paid = SpinUntil(done, budget);
    Learn(paid);
    return paid;
}

/// A word and its value at the last look.
struct FutexWord
{
    const std::atomic<uint32_t>* word;
    uint32_t seen;
};

/// Sleeps while `word` is `seen`; also returns for signals, or for nothing.
void FutexWait(const std::atomic<uint32_t>& word, uint32_t seen);

/// The same, for at most `timeoutNs`.
void FutexWait(const std::atomic<uint32_t>& word, uint32_t seen, int64_t timeoutNs);

/// Sleeps while all of the words are as seen, at most `timeoutNs`; also returns for signals, or for nothing.
void FutexWaitAny(const std::vector<FutexWord>& words, int64_t timeoutNs);

/// Makes everything written so far visible, and wakes the peer if it sleeps.
/// Sequentially consistent on both sides: either we see that it sleeps, or it sees the new number.
void FutexAdvance(std::atomic<uint32_t>& sequence, const std::atomic<uint32_t>& peerSleeps);

} // namespace ns3::env
