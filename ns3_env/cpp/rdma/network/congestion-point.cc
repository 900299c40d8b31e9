// SPDX-License-Identifier: GPL-2.0-or-later
// Congestion point of an egress queue: samples of arriving frames, and the feedback of each.
#include "congestion-point.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3::env::rdma
{

namespace
{

/// Of the base interval, by |Fb| / 8: 150, 75, 50, 37.5, 30, 25, 21.5 and 18.5 kB of 150 (IEEE 802.1Q, 32.9.2).
constexpr std::array<double, 8>
    SHARE_OF_INTERVAL{1.0, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6, 21.5 / 150, 18.5 / 150};

/// As a field of 16 bits in units of 64 B holds it.
int32_t
InUnits(double bytes)
{
    const double units = std::round(bytes / QueueFeedback::UNIT_BYTES);
    return static_cast<int32_t>(std::clamp(units, -32768.0, 32767.0)) * QueueFeedback::UNIT_BYTES;
}

} // namespace

CongestionPoint::CongestionPoint(const CongestionPointConfig& config,
                                 uint32_t id,
                                 RandomSource& random)
    : m_config(config),
      m_id(id),
      m_random(&random),
      m_byProbability(config.sampleProbability > 0),
      m_untilSample(config.sampleBytes)
{
}

std::optional<QueueFeedback>
CongestionPoint::Look(uint64_t queueBytes)
{
    if (m_byProbability && m_random->Draw() >= m_config.sampleProbability)
    {
        return std::nullopt;
    }
    const QueueFeedback feedback = Sample(queueBytes);
    m_untilSample = Interval(feedback.quantised);
    if (m_config.negativeOnly && feedback.quantised == 0)
    {
        return std::nullopt;
    }
    return feedback;
}

QueueFeedback
CongestionPoint::Sample(uint64_t queueBytes)
{
    const double offset = static_cast<double>(queueBytes) - m_config.targetBytes;
    const double delta = static_cast<double>(queueBytes) - static_cast<double>(m_queueBefore);
    m_queueBefore = queueBytes;
    const double congestion = offset + m_config.weight * delta; // -Fb (Jiang 2015, eq. 1)
    const double range = m_config.targetBytes * (2 * m_config.weight + 1); // where Fb is cut off
    const double level = QueueFeedback::MOST * std::clamp(congestion / range, 0.0, 1.0);
    return {.offsetBytes = InUnits(offset),
            .deltaBytes = InUnits(delta),
            .congestionPoint = m_id,
            .quantised = static_cast<uint8_t>(level)};
}

double
CongestionPoint::Interval(uint8_t quantised) const
{
    const double share = m_config.adaptiveSampling ? SHARE_OF_INTERVAL[quantised / 8] : 1.0;
    const double jitter =
        m_config.sampleJitter > 0 ? m_config.sampleJitter * (2 * m_random->Draw() - 1) : 0.0;
    return m_config.sampleBytes * share * (1 + jitter);
}

} // namespace ns3::env::rdma
