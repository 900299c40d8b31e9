// SPDX-License-Identifier: GPL-2.0-or-later
// A flow as its controller sees it: facts of the path, counters, window and pacing rate.
#pragma once

#include "pacing.h"
#include "path-facts.h"
#include "units.h"

#include <cstdint>

namespace ns3::env
{

/// The size of a flow that never ends: no link carries as much in the longest run.
inline constexpr uint64_t ENDLESS_BYTES = 1'000'000'000'000'000'000;

/// A flow as its controller sees it: facts to read, window and rate to write. See Pacing for the meaning of these two.
class FlowState
{
  public:
    virtual ~FlowState() = default;

    const PathFacts& Path() const { return *m_path; }
    uint32_t Id() const { return m_id; }
    /// Size in bytes; for an endless flow, more than any flow can send (ENDLESS_BYTES).
    uint64_t SizeBytes() const { return m_sizeBytes; }
    Picos StartTime() const { return m_startTime; }
    /// Payload bytes handed to the wire (the next sequence number).
    uint64_t SentBytes() const { return m_sentBytes; }
    /// Payload bytes acknowledged in order.
    uint64_t AckedBytes() const { return m_ackedBytes; }
    uint64_t InflightBytes() const { return m_sentBytes - m_ackedBytes; }

    /// Pacing: no packet leaves before.
    Picos NextAvailable() const { return m_pacing.NextAvailable(); }
    double WindowBytes() const { return m_pacing.WindowBytes(); }
    double RateBps() const { return m_pacing.RateBps(); }

    static constexpr double NO_WINDOW = Pacing::NO_WINDOW;

    // --- Window and rate: values written inside a hook of the controller apply when it returns. Written anywhere
    // else (a timer, an agent's answer), WindowAndRateWritten() has to follow.

    /// A flow may send while inflight < window; below one packet see WindowOfOnePacketPer().
    void SetWindow(double bytes) { m_pacing.SetWindow(bytes); }
    /// The next packet may leave wire bytes * 8 / rate after the last one left.
    void SetRate(double bps) { m_pacing.SetRate(bps); }
    /// Sets the rate, and moves the packet already waiting for its turn by the difference (HPCC).
    void SetRateAndRepace(double bps) { m_pacing.SetRateAndRepace(bps); }
    /// The flow sends at once if window and rate now allow it.
    virtual void WindowAndRateWritten() {}

  protected:
    const PathFacts* m_path{nullptr};
    uint32_t m_id{0};
    uint64_t m_sizeBytes{0};
    Picos m_startTime{0};
    uint64_t m_sentBytes{0};
    uint64_t m_ackedBytes{0};
    Pacing m_pacing;
};

} // namespace ns3::env
