// SPDX-License-Identifier: GPL-2.0-or-later
// Doorbell of a simulator that plays several networks: its futex word and its sign of life.
#include "doorbell.h"

#include <new>

namespace ns3::env
{

Doorbell::Doorbell()
    : m_region(SharedRegion::Create("ns3_env-bell", sizeof(Words))),
      m_words(new (m_region.Data()) Words{})
{
}

Doorbell::Doorbell(int fd)
    : m_region(SharedRegion::Map(fd, sizeof(Words))),
      m_words(reinterpret_cast<Words*>(m_region.Data()))
{
}

void
Doorbell::Await(uint32_t seen)
{
    if (m_spin.Await(m_words->rings, seen))
    {
        return;
    }
    m_words->sleeps.store(1, std::memory_order_seq_cst);
    while (m_words->rings.load(std::memory_order_seq_cst) == seen)
    {
        FutexWait(m_words->rings, seen);
    }
    m_words->sleeps.store(0, std::memory_order_relaxed);
}

} // namespace ns3::env
