// SPDX-License-Identifier: GPL-2.0-or-later
// Time of a flow's next packet by window and pacing rate, with windows below one packet.
#pragma once

#include "path-facts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace ns3::env
{

/// A flow's window and rate, and their meaning for its packets:
///
/// - A packet may leave while the payload in flight is less than the window. The test is on the data in flight
///   already, so a window may overshoot by less than a packet.
/// - It leaves no earlier than wire bytes * 8 / rate after the packet before it.
/// - A window below one packet's payload lets one packet leave every packet / window base RTTs, and none before
///   the last one's ACK (docs/decisions/0003-mpcc.md).
class Pacing
{
  public:
    static constexpr double NO_WINDOW = std::numeric_limits<double>::infinity();

    /// Line rate, no window. `path` is read later, as long as the flow lives.
    void SetPath(const PathFacts& path, double lineRateBps)
    {
        m_path = &path;
        m_rateBps = lineRateBps;
    }

    double WindowBytes() const { return m_windowBytes; }
    double RateBps() const { return m_rateBps; }
    /// Time before which no packet leaves.
    Picos NextAvailable() const { return m_nextAvailable; }

    void SetWindow(double bytes) { m_windowBytes = bytes; }

    /// Paces from the next packet on.
    void SetRate(double bps) { m_rateBps = bps; }

    /// Sets the rate, and moves the packet already waiting for its turn by the difference.
    void SetRateAndRepace(double bps)
    {
        const Picos before = Gap(m_lastWireBytes);
        m_rateBps = bps;
        m_nextAvailable += Gap(m_lastWireBytes) - before;
        m_repaced = true;
    }

    /// A packet leaves at `now`, under the rate as it is.
    void OnSent(uint32_t wireBytes, Picos now)
    {
        m_lastWireBytes = wireBytes;
        m_lastSentAt = now;
        m_nextAvailable = now + Gap(wireBytes);
    }

    /// Lets no packet leave before `now`: the flow starts, or returns to an earlier packet.
    void HoldUntil(Picos now) { m_nextAvailable = std::max(m_nextAvailable, now); }

    /// Earliest time at which the next packet may leave; NEVER while an ACK has to come first.
    Picos ReadyAt(uint64_t inflightBytes) const
    {
        // signed: one instruction
        return static_cast<double>(static_cast<int64_t>(inflightBytes)) >= m_windowBytes
                   ? NEVER
                   : PacedUntil(inflightBytes);
    }

    /// Earliest time by the pacing clock, as if the window were open.
    Picos PacedUntil(uint64_t inflightBytes) const
    {
        // Bytes in flight are payload, so a window of one payload still keeps one packet in flight.
        if (m_windowBytes >= m_path->payloadBytes)
        {
            return m_nextAvailable;
        }
        if (inflightBytes > 0)
        {
            return NEVER;
        }
        const auto gap = static_cast<Picos>(static_cast<double>(m_path->baseRtt) *
                                            m_path->packetBytes / std::max(m_windowBytes, 1.0));
        const bool first = m_lastWireBytes == 0;
        return first ? m_nextAvailable : std::max(m_nextAvailable, m_lastSentAt + gap);
    }

    /// Reports whether window or rate has changed since the last call; true at the first.
    bool TakeChange()
    {
        if (m_windowBytes == m_reportedWindowBytes && m_rateBps == m_reportedRateBps)
        {
            return false;
        }
        m_reportedWindowBytes = m_windowBytes;
        m_reportedRateBps = m_rateBps;
        return true;
    }

    /// Reports whether SetRateAndRepace was called since the last query.
    bool TakeRepaced() { return std::exchange(m_repaced, false); }

  private:
    /// Gap between a packet of `wireBytes` and the next one at the present rate; cached, as it is mostly the same.
    Picos Gap(uint32_t wireBytes)
    {
        if (wireBytes != m_gapBytes || m_rateBps != m_gapRateBps)
        {
            m_gapBytes = wireBytes;
            m_gapRateBps = m_rateBps;
            m_gap = SerialisationTime(wireBytes, m_rateBps, m_path->rounding);
        }
        return m_gap;
    }

    const PathFacts* m_path{nullptr};
    double m_windowBytes{NO_WINDOW};
    double m_rateBps{0};
    Picos m_nextAvailable{0};
    Picos m_lastSentAt{0};
    uint32_t m_lastWireBytes{0}; ///< 0 before the first packet
    uint32_t m_gapBytes{0};
    double m_gapRateBps{std::numeric_limits<double>::quiet_NaN()};
    Picos m_gap{0};
    bool m_repaced{false};
    double m_reportedWindowBytes{std::numeric_limits<double>::quiet_NaN()};
    double m_reportedRateBps{std::numeric_limits<double>::quiet_NaN()};
};

/// The window, below one packet's payload, under which a packet leaves every `rtt` / `packets`
/// (packets < 1; an `rtt` below the path's base RTT counts as that).
inline double
WindowOfOnePacketPer(const PathFacts& path, double packets, Picos rtt)
{
    // One packet of wire size L leaves every base RTT * L / W, so W = L * packets * base RTT / rtt.
    const auto base = static_cast<double>(path.baseRtt);
    const double bytes =
        packets * path.packetBytes * (base / std::max(base, static_cast<double>(rtt)));
    return std::min(bytes, std::nextafter(static_cast<double>(path.payloadBytes), 0.0));
}

} // namespace ns3::env
