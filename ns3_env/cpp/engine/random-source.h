// SPDX-License-Identifier: GPL-2.0-or-later
// Sources of random numbers: an ns-3 stream of a network, or a stream for each port.
#pragma once

#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"

#include <cstdint>

namespace ns3::env
{

/// Uniform numbers in [0, 1).
class RandomSource
{
  public:
    virtual ~RandomSource() = default;

    virtual double Draw() = 0;
    /// Called for each pause or resume frame, though nothing in it is random.
    virtual void OnPfcFrame() {}
};

/// Numbers of a single ns-3 stream of the run in which it is made. Creating it needs a millisecond of arithmetic, which a network that draws nothing
/// (no loss, no marks between the thresholds) need not pay at every reset.
class OneStream final : public RandomSource
{
  public:
    explicit OneStream(int64_t stream = 1)
        : m_stream(stream),
          m_run(RngSeedManager::GetRun())
    {
    }

    double Draw() override
    {
        if (!m_variable)
        {
            RngSeedManager::SetRun(m_run); // another network's may have begun since
            m_variable = CreateObject<UniformRandomVariable>();
            m_variable->SetStream(m_stream);
        }
        return m_variable->GetValue();
    }

  private:
    int64_t m_stream;
    uint64_t m_run;
    Ptr<UniformRandomVariable> m_variable;
};

/// Random numbers of one port, independent of other ports: SplitMix64 (Steele et al. 2014).
class PortStream final : public RandomSource
{
  public:
    PortStream(uint64_t seed, uint32_t node, uint32_t port)
        : m_state(Mixed(Mixed(seed) + (uint64_t{node} << 32 | port)))
    {
    }

    double Draw() override
    {
        constexpr double UNIT = 0x1p-53;
        m_state += GAMMA;
        return static_cast<double>(Mixed(m_state) >> 11) * UNIT;
    }

  private:
    static constexpr uint64_t GAMMA = 0x9e3779b97f4a7c15;

    static uint64_t Mixed(uint64_t x)
    {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    uint64_t m_state;
};

} // namespace ns3::env
