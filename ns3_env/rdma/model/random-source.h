// SPDX-License-Identifier: GPL-2.0-or-later
// Where do a network's random draws come from? One stream, made when it is first needed.
#ifndef RDMA_RANDOM_SOURCE_H
#define RDMA_RANDOM_SOURCE_H

#include "stream-per-draw.h"

#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"

#include <cstdint>
#include <optional>

namespace ns3::rdma
{

/**
 * Uniform numbers in [0, 1) of one ns-3 stream. Making a stream takes a millisecond of arithmetic, which a
 * network that draws nothing (no loss, no marks between the thresholds) need not pay at every reset.
 */
class RandomSource
{
  public:
    explicit RandomSource(int64_t stream = 1)
        : m_stream(stream)
    {
    }

    /// Every number from a stream of its own from now on, the first from stream `first`.
    void UseStreamPerDraw(uint64_t first)
    {
        m_perDraw.emplace(RngSeedManager::GetSeed(), RngSeedManager::GetRun(), first);
    }

    double Draw()
    {
        if (m_perDraw)
        {
            return m_perDraw->Draw();
        }
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
    std::optional<StreamPerDraw> m_perDraw;
};

} // namespace ns3::rdma

#endif // RDMA_RANDOM_SOURCE_H
