// SPDX-License-Identifier: GPL-2.0-or-later
// ns3-ai's semaphores of one byte, waited for without keeping a core busy.
#ifndef NS3_ENV_NS3AI_BYTE_SEMAPHORE_H
#define NS3_ENV_NS3AI_BYTE_SEMAPHORE_H

#include "ns3_env/cpp/channel/adaptive-spin.h"

#include <cstdint>

namespace ns3::env::ns3ai
{

/// ns3-ai's synchronisation block: four semaphores of a byte each, and whether the simulator has finished.
struct SyncBlock
{
    volatile uint8_t toPythonEmpty{1};
    volatile uint8_t toPythonFull{0};
    volatile uint8_t toSimulatorEmpty{1};
    volatile uint8_t toSimulatorFull{0};
    bool finished{false};
};

/// Counts a semaphore up; wakes a sleeper in ByteWait.
void Post(SyncBlock& block, volatile uint8_t& semaphore);

/**
 * Waits for semaphores of a block.
 *
 * A foreign peer spins, adds 1 to a byte and wakes none: this side spins for a moment (AdaptiveSpin), then looks
 * at intervals that grow with what it has waited, to 2 ms at most. A peer of our own wakes it: its Post()
 * calls the futex of the four bytes.
 */
class ByteWait
{
  public:
    /// Counts `semaphore` down; false where it stayed 0 for `timeoutNs`. The next call goes on waiting.
    bool Take(SyncBlock& block, volatile uint8_t& semaphore, int64_t timeoutNs);

  private:
    AdaptiveSpin m_spin;
    int64_t m_since{0}; ///< when this wait began; 0: none is under way
};

} // namespace ns3::env::ns3ai

#endif // NS3_ENV_NS3AI_BYTE_SEMAPHORE_H
