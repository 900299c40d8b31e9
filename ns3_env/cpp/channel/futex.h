// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeping and waking by Linux futexes on words of the shared region.
#ifndef NS3_ENV_CHANNEL_FUTEX_H
#define NS3_ENV_CHANNEL_FUTEX_H

#include <atomic>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// A word and what it held when it was looked at last.
struct FutexWord
{
    const std::atomic<uint32_t>* word;
    uint32_t seen;
};

/// Sleeps while `word` is `seen`; also returns for signals, or for nothing.
void FutexWait(const std::atomic<uint32_t>& word, uint32_t seen);

/// As above, for at most `timeoutNs`.
void FutexWait(const std::atomic<uint32_t>& word, uint32_t seen, int64_t timeoutNs);

/// Sleeps while all of the words are as seen, at most `timeoutNs`; also returns for signals, or for nothing.
void FutexWaitAny(const std::vector<FutexWord>& words, int64_t timeoutNs);

/// Makes everything written so far visible, and wakes the peer if it sleeps.
/// Sequentially consistent on both sides: either we see that it sleeps, or it sees the new number.
void FutexAdvance(std::atomic<uint32_t>& sequence, const std::atomic<uint32_t>& peerSleeps);

} // namespace ns3::env

#endif // NS3_ENV_CHANNEL_FUTEX_H
