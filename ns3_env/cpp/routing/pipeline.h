// SPDX-License-Identifier: GPL-2.0-or-later
// Store-and-forward time of frames that follow one another over a path, with nothing else on it.
#ifndef NS3_ENV_ROUTING_PIPELINE_H
#define NS3_ENV_ROUTING_PIPELINE_H

#include "graph.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace ns3::env
{

/// Links in a row, each of which passes on what it has whole; in two legs where each frame is answered on the way back.
class Pipeline
{
  public:
    /// The first frame may leave at time 0. The legs outlive this.
    explicit Pipeline(std::initializer_list<const Hops*> legs);

    /// `count` frames, of so many bytes on each leg, behind those before them.
    void Pass(std::initializer_list<uint64_t> bytesOnLegs, uint64_t count = 1);

    /// When the last frame, or its answer, is at the end of the last leg; ps.
    Picos Arrival() const { return m_arrival; }

  private:
    std::vector<const Hops*> m_legs;
    std::vector<Picos> m_free; ///< when each link has nothing more to send
    Picos m_arrival{0};
};

} // namespace ns3::env

#endif // NS3_ENV_ROUTING_PIPELINE_H
