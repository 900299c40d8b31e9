// SPDX-License-Identifier: GPL-2.0-or-later
// Rate and propagation delay of one direction of a link over time.
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// A period during which a link's rate and delay are constant.
struct LinkStep
{
    Picos begin;
    double rateBps; ///< 0: nothing is transmitted
    Picos delay;
};

/// Steps of a link, which may repeat. It is asked in the order of time.
class LinkSchedule
{
  public:
    /// \param steps the first begins at 0; at least one has a rate, the last one if they do not repeat
    /// \param period time from one repetition to the next; NEVER: the last step lasts
    LinkSchedule(std::vector<LinkStep> steps, Picos period);

    /// End of the transmission of `bytes` that begins at `now`.
    Picos TransmissionEnd(uint32_t bytes, Picos now);
    /// Arrival of a frame whose transmission ends then; none overtakes the one before, though delays become shorter.
    Picos Arrival(Picos end);
    Picos LeastDelay() const;
    /// Whether each step has this delay.
    bool HasOnly(Picos delay) const;
    /// bit/s; 0: nothing is transmitted.
    double RateAt(Picos now);
    /// End of the step of `now`; NEVER if it lasts.
    Picos EndOfStep(Picos now);

  private:
    /// Moves to the step of this time.
    void Seek(Picos time);
    /// End of the present step.
    Picos End() const;

    std::vector<LinkStep> m_steps;
    Picos m_period;
    size_t m_step{0};
    Picos m_repetition{0}; ///< when the present repetition began
    Picos m_lastArrival{0};
};

} // namespace ns3::env
