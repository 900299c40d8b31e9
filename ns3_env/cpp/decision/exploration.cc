// SPDX-License-Identifier: GPL-2.0-or-later
#include "exploration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ns3::env
{

namespace
{

/// SplitMix64's finaliser (Steele et al. 2014).
uint64_t
Mixed(uint64_t z)
{
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15U;

} // namespace

Exploration::Exploration(const ExplorationSettings& settings, uint64_t seed, uint32_t flow)
    : m_settings(settings),
      m_state(Mixed(Mixed(seed + GOLDEN) + flow * GOLDEN)),
      m_random(Uniform() < settings.randomShare)
{
}

uint64_t
Exploration::Next()
{
    m_state += GOLDEN;
    return Mixed(m_state);
}

double
Exploration::Uniform()
{
    return static_cast<double>(Next() >> 11U) * 0x1p-53; // [0, 1)
}

double
Exploration::Normal()
{
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform())); // Box and Muller 1958
    return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

double
Exploration::operator()(double action)
{
    if (!m_random)
    {
        return m_settings.noise > 0 ? std::clamp(action + m_settings.noise * Normal(), -1.0, 1.0)
                                    : action;
    }
    if (m_holdFor == 0)
    {
        m_held = 2.0 * Uniform() - 1.0;
        // Geometric: P(n) = p (1 - p)^(n-1), p = 1 / MEAN_HOLD.
        m_holdFor =
            1 + static_cast<uint64_t>(std::log(1.0 - Uniform()) / std::log(1.0 - 1.0 / MEAN_HOLD));
    }
    --m_holdFor;
    return m_held;
}

} // namespace ns3::env
