// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes received, sent by switch ports and queued there within an interval of a run.
#pragma once

#include "ns3_env/cpp/engine/queue-stats.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/run/episode.h"

#include <map>
#include <utility>
#include <vector>

namespace ns3::env
{

/// Goodput of every flow from the last start to the first end, if these come in this order; endless flows end
/// with the run
/// (docs/sources/metrics.md: unfair ratio).
class CommonInterval
{
  public:
    explicit CommonInterval(Episode& episode);

    CommonInterval(CommonInterval&&) = delete;

    Picos Begin() const { return m_begin; }
    /// The window's end; not after Begin() if the flows were never all active together.
    Picos End() const { return m_end; }
    /// Payload, by flow; empty if there was no such interval.
    const std::vector<uint64_t>& ReceivedBytes() const { return m_receivedBytes; }

  private:
    void OnAllStarted();
    void OnFinished(const Flow&) { Close(NowPicos()); }
    void OnRunEnds();
    void Close(Picos end);

    const Episode& m_episode;
    Picos m_begin{0};
    Picos m_end{0};
    bool m_over{false}; ///< a flow has finished, or the run with endless ones
    std::vector<uint64_t> m_receivedBytes;
};

/// Counters over [begin, end), whenever the last flow ends (docs/sources/metrics.md: measurement window).
class MeasurementWindow
{
  public:
    /// Counts of one port of a switch.
    struct PortCounts
    {
        uint64_t txBytes;
        QueueStats queue; ///< zero from the end of a run that is over before the window
    };

    MeasurementWindow(Episode& episode, TimeSpan span);

    MeasurementWindow(MeasurementWindow&&) = delete;

    TimeSpan Span() const { return m_span; }
    /// In-order payload, by flow.
    const std::vector<uint64_t>& ReceivedBytes() const { return m_receivedBytes; }
    /// Counts of a port with queue statistics.
    const PortCounts& Of(uint32_t node, uint32_t port) const { return m_ports.at({node, port}); }

  private:
    void OnRunBegins();
    void OnRunEnds();
    void Open();
    void Close();
    /// In-order payload until now, by flow.
    std::vector<uint64_t> ReceivedSoFar() const;

    const Episode& m_episode;
    TimeSpan m_span;
    bool m_open{false};
    bool m_closed{false};
    std::vector<uint64_t>
        m_receivedBytes; ///< until the window starts; within it, once it is closed
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> m_txBytes; ///< until the window starts
    std::map<std::pair<uint32_t, uint32_t>, PortCounts> m_ports;
};

} // namespace ns3::env
