// SPDX-License-Identifier: GPL-2.0-or-later
// ns3-ai's wire, written only from its description, with nothing of this package.
#pragma once

#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/vector.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <chrono>
#include <cstdint>

namespace foreign
{

namespace bip = boost::interprocess;

/// The message of the Gym interface.
struct Buffer
{
    uint8_t buffer[1024];
    uint32_t size;
};

/// The synchronisation block.
struct Lockable
{
    volatile uint8_t cpp2pyEmpty{1};
    volatile uint8_t cpp2pyFull{0};
    volatile uint8_t py2cppEmpty{1};
    volatile uint8_t py2cppFull{0};
    bool finished{false};
};

/// Spins until the byte could be counted down; false after `seconds`, which the real ones do not have.
inline bool
Wait(volatile uint8_t& semaphore, double seconds)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (uint64_t turn = 1;; ++turn)
    {
        const uint8_t value = semaphore;
        if (value > 0 &&
            __sync_bool_compare_and_swap(&semaphore, value, static_cast<uint8_t>(value - 1)))
        {
            return true;
        }
        if (turn % 1024 == 0 && std::chrono::steady_clock::now() > end)
        {
            return false;
        }
    }
}

inline void
Post(volatile uint8_t& semaphore)
{
    __sync_fetch_and_add(&semaphore, uint8_t{1});
}

} // namespace foreign
