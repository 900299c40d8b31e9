// SPDX-License-Identifier: GPL-2.0-or-later
// Random numbers of the published simulator: each draw is the first number of a new stream.
#ifndef NS3_ENV_RDMA_PUBLISHED_STREAM_PER_DRAW_H
#define NS3_ENV_RDMA_PUBLISHED_STREAM_PER_DRAW_H

#include "ns3_env/cpp/engine/random-source.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ns3::env::rdma::published
{

/**
 * Number k is the first of stream `first + k` of ns-3's generator, MRG32k3a (L'Ecuyer 2002, "An
 * object-oriented random-number package with many long streams and substreams"). Streams lie 2^127 numbers
 * apart, substreams (ns-3's runs) 2^76; stepping from one to the next is one multiplication by a matrix.
 */
class StreamPerDraw final : public RandomSource
{
  public:
    /// \param seed of the generator, at most 4294944442; \param run ns-3's run number.
    StreamPerDraw(uint32_t seed, uint64_t run, uint64_t first);

    double Draw() override;
    /// A PFC frame takes a number as a marking decision does, and has no use for it.
    void OnPfcFrame() override { Draw(); }

  private:
    using State = std::array<uint64_t, 3>;

    State m_first;  ///< of the component modulo 4294967087
    State m_second; ///< of the component modulo 4294944443
};

} // namespace ns3::env::rdma::published

#endif // NS3_ENV_RDMA_PUBLISHED_STREAM_PER_DRAW_H
