// SPDX-License-Identifier: GPL-2.0-or-later
// Source of a network's random numbers: one ns-3 stream, made when it is first needed.
#ifndef NS3_ENV_ENGINE_RANDOM_SOURCE_H
#define NS3_ENV_ENGINE_RANDOM_SOURCE_H

#include "ns3/random-variable-stream.h"

#include <cstdint>

namespace ns3::env
{

/// Uniform numbers in [0, 1).
class RandomSource
{
  public:
    virtual ~RandomSource() = default;

    virtual double Draw() = 0;
    /// A pause or resume frame is sent, of which nothing is random.
    virtual void OnPfcFrame() {}
};

/**
 * All of one ns-3 stream. Making it takes a millisecond of arithmetic, which a network that draws nothing
 * (no loss, no marks between the thresholds) need not pay at every reset.
 */
class OneStream final : public RandomSource
{
  public:
    explicit OneStream(int64_t stream = 1)
        : m_stream(stream)
    {
    }

    double Draw() override
    {
        if (!m_variable)
        {
            m_variable = CreateObject<UniformRandomVariable>();
            m_variable->SetStream(m_stream);
        }
        return m_variable->GetValue();
    }

  private:
    int64_t m_stream;
    Ptr<UniformRandomVariable> m_variable;
};

} // namespace ns3::env

#endif // NS3_ENV_ENGINE_RANDOM_SOURCE_H
