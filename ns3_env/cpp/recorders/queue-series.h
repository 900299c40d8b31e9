// SPDX-License-Identifier: GPL-2.0-or-later
// Lengths of the switches' egress queues at equal intervals.
#ifndef NS3_ENV_RECORDERS_QUEUE_SERIES_H
#define NS3_ENV_RECORDERS_QUEUE_SERIES_H

#include "ns3_env/cpp/run/episode.h"

#include <map>
#include <utility>
#include <vector>

namespace ns3::env
{

/// Samples of one egress queue.
struct QueueSeries
{
    std::vector<Picos> time;
    std::vector<uint64_t> bytes;
};

/// Samples the egress queues of all switches while the network runs.
class QueueSampler
{
  public:
    QueueSampler(Episode& episode, Picos interval);

    QueueSampler(const QueueSampler&) = delete;
    QueueSampler& operator=(const QueueSampler&) = delete;

    /// Of the port of this node and index.
    const QueueSeries& Of(uint32_t node, uint32_t port) const { return m_series.at({node, port}); }

  private:
    void OnBegin();
    void Sample();

    const Episode& m_episode;
    Picos m_interval;
    std::map<std::pair<uint32_t, uint32_t>, QueueSeries> m_series;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_QUEUE_SERIES_H
