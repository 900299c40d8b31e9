// SPDX-License-Identifier: GPL-2.0-or-later
// Payload that each flow received while all flows were active.
#ifndef NS3_ENV_RECORDERS_COMMON_INTERVAL_H
#define NS3_ENV_RECORDERS_COMMON_INTERVAL_H

#include "ns3_env/cpp/run/episode.h"

#include <vector>

namespace ns3::env
{

/// Goodput of every flow from the last start to the first end, where these come in this order; endless flows end
/// with the run
/// (docs/sources/metrics.md: unfair ratio).
class CommonInterval
{
  public:
    explicit CommonInterval(Episode& episode);

    CommonInterval(const CommonInterval&) = delete;
    CommonInterval& operator=(const CommonInterval&) = delete;

    Picos Begin() const { return m_begin; }
    /// Not after Begin() where the flows were never all active together.
    Picos End() const { return m_end; }
    /// Payload, by flow; empty where there was no such interval.
    const std::vector<uint64_t>& ReceivedBytes() const { return m_receivedBytes; }

  private:
    void OnAllStarted();
    void OnFinished(const Flow& flow);
    void OnRunEnds();
    void Close(Picos end);

    const Episode& m_episode;
    Picos m_begin{0};
    Picos m_end{0};
    bool m_over{false}; ///< a flow has finished, or the run with endless ones
    std::vector<uint64_t> m_receivedBytes;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_COMMON_INTERVAL_H
