// SPDX-License-Identifier: GPL-2.0-or-later
// Random numbers of an attack, from a seed and the attack's number, so that each can be repeated.
#ifndef NS3_ENV_TEST_FUZZ_RANDOM_H
#define NS3_ENV_TEST_FUZZ_RANDOM_H

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <random>

namespace ns3::env::fuzz
{

class Random
{
  public:
    Random(uint64_t seed, uint64_t attack)
        : m_engine(seed * 0x9e3779b97f4a7c15 + attack)
    {
    }

    uint64_t Bits() { return m_engine(); }
    /// Of [0, n).
    size_t Below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(m_engine() % n); }
    bool OneIn(size_t n) { return Below(n) == 0; }

    template <typename T>
    T OneOf(std::initializer_list<T> values)
    {
        return *std::next(values.begin(), static_cast<std::ptrdiff_t>(Below(values.size())));
    }

    /// Any double there is: infinities and NaNs, too.
    double AnyDouble()
    {
        const uint64_t bits = Bits();
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

  private:
    std::mt19937_64 m_engine;
};

} // namespace ns3::env::fuzz

#endif // NS3_ENV_TEST_FUZZ_RANDOM_H
