// SPDX-License-Identifier: GPL-2.0-or-later
// Time table of a stream of constant rate, which no controller steers.
#pragma once

#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/units.h"

#include <cmath>
#include <cstdint>

namespace ns3::env
{

/// The time table of a stream: packets are due one after the other, whenever the last one could leave.
class OpenLoop
{
  public:
    /// `rateBps` of bytes on the wire; `stop`: NEVER for an endless stream.
    OpenLoop(double rateBps, uint32_t wireBytes, Picos start, Picos stop)
        : m_gap(wireBytes * 8.0 * PS_PER_SECOND / rateBps),
          m_start(start),
          m_stop(stop)
    {
    }

    Picos Stop() const { return m_stop; }

    /// Time at which packet `index` (from 0) is due; NEVER unless that is before the stop.
    Picos DueAt(uint64_t index) const
    {
        constexpr double BEYOND = 9e18; // longer than any run, and near the limit of Picos
        const double after = std::round(static_cast<double>(index) * m_gap);
        if (after > BEYOND - static_cast<double>(m_start))
        {
            return NEVER;
        }
        const Picos due = m_start + static_cast<Picos>(after);
        return due < m_stop ? due : NEVER;
    }

  private:
    double m_gap; ///< ps from packet to packet
    Picos m_start;
    Picos m_stop;
};

/// Placeholder for the controller of a flow without one; no user can name it.
class Uncontrolled final : public CongestionControl
{
  public:
    void OnAck(FlowState&, const AckSample&) override {}
};

} // namespace ns3::env
