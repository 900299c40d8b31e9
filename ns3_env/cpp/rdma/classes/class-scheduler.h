// SPDX-License-Identifier: GPL-2.0-or-later
// The class that a port serves next: strict classes first, then weighted ones in rounds.
#pragma once

#include "ns3_env/cpp/contract/traffic-class.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::env::rdma
{

/// Strict classes in their order, then those with weights by deficit round robin (Shreedhar 1996), in the form that lets a
/// class send while it has any credit left and so run into debt by less than a frame (surplus round robin, Adiseshu 1996):
/// no frame's length must be known beforehand. Together: transmission selection of IEEE 802.1Qaz.
///
/// The smallest weight's quantum is one full frame, so that every visit sends. A class without packets loses its credit;
/// debts stay.
class ClassScheduler
{
  public:
    /// \param classes strict ones first
    ClassScheduler(const std::vector<TrafficClass>& classes, uint32_t frameBytes)
        : m_count(static_cast<uint32_t>(classes.size()))
    {
        double least = 0;
        for (const TrafficClass& own : classes)
        {
            m_strict += own.IsStrict() ? 1 : 0;
            least = own.IsStrict() || (least > 0 && least < own.weight) ? least : own.weight;
        }
        for (uint32_t i = m_strict; i < m_count; ++i)
        {
            m_quantum[i] = frameBytes * classes[i].weight / least;
        }
        m_turn = m_strict;
    }

    /// The class to serve now, among those with something to send by `isReady(class)`.
    template <class Ready>
    std::optional<uint32_t> Next(Ready isReady)
    {
        for (uint32_t i = 0; i < m_strict; ++i)
        {
            if (isReady(i))
            {
                return i;
            }
        }
        return m_strict < m_count ? NextByWeight(isReady) : std::nullopt;
    }

    /// A frame of the class has been sent.
    void OnSent(uint32_t which, uint32_t bytes) { m_credit[which] -= bytes; }

  private:
    template <class Ready>
    std::optional<uint32_t> NextByWeight(Ready isReady)
    {
        if (m_credit[m_turn] > 0 && isReady(m_turn))
        {
            return m_turn;
        }
        m_credit[m_turn] = std::min(m_credit[m_turn], 0.0);
        const uint32_t weighted = m_count - m_strict;
        for (uint32_t step = 1; step <= weighted; ++step)
        {
            const uint32_t other = m_strict + (m_turn - m_strict + step) % weighted;
            if (isReady(other))
            {
                m_turn = other;
                m_credit[other] += m_quantum[other];
                return other;
            }
        }
        return std::nullopt;
    }

    uint32_t m_count;
    uint32_t m_strict{0};
    uint32_t m_turn;                              ///< of a class with a weight
    std::array<double, MOST_CLASSES> m_quantum{}; ///< bytes
    std::array<double, MOST_CLASSES> m_credit{}; ///< bytes; above 0 only for the class being served
};

} // namespace ns3::env::rdma
