// SPDX-License-Identifier: GPL-2.0-or-later
// Congestion point of an egress queue: samples of arriving frames, and the feedback of each.
#ifndef NS3_ENV_RDMA_NETWORK_CONGESTION_POINT_H
#define NS3_ENV_RDMA_NETWORK_CONGESTION_POINT_H

#include "ns3_env/cpp/contract/congestion-point-config.h"
#include "ns3_env/cpp/contract/queue-feedback.h"
#include "ns3_env/cpp/engine/random-source.h"

#include <optional>

namespace ns3::env::rdma
{

/// The congestion point of one egress queue (Jiang 2015, sec. 2.2; IEEE 802.1Q, 32.8 and 32.9).
class CongestionPoint
{
  public:
    /// \param id of the point, unique in the network
    CongestionPoint(const CongestionPointConfig& config, uint32_t id, RandomSource& random);

    /// A data frame of `wireBytes` has joined the queue, which is `queueBytes` long with it. The feedback to
    /// its source, where the frame is a sample.
    std::optional<QueueFeedback> OnArrival(uint32_t wireBytes, uint64_t queueBytes)
    {
        m_untilSample -= wireBytes;
        if (m_untilSample > 0 && !m_byProbability) [[likely]]
        {
            return std::nullopt;
        }
        return Look(queueBytes);
    }

  private:
    std::optional<QueueFeedback> Look(uint64_t queueBytes);
    QueueFeedback Sample(uint64_t queueBytes);
    /// Bytes until the next sample (NewCpSampleBase of the standard).
    double Interval(uint8_t quantised) const;

    CongestionPointConfig m_config;
    uint32_t m_id;
    RandomSource* m_random;
    bool m_byProbability;
    double m_untilSample;
    uint64_t m_queueBefore{0}; ///< q_old, at the last sample
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_NETWORK_CONGESTION_POINT_H
