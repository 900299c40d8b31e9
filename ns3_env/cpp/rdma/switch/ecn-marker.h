// SPDX-License-Identifier: GPL-2.0-or-later
// RED-like ECN marking by the egress bytes left at dequeue.
#pragma once

#include "ns3_env/cpp/contract/switch-config.h"
#include "ns3_env/cpp/engine/random-source.h"
#include "ns3_env/cpp/rdma/link/packet.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ns3::env::rdma
{

/// Marks never up to Kmin, always above Kmax, and with p = Pmax (q - Kmin)/(Kmax - Kmin) between.
class EcnMarker
{
  public:
    virtual ~EcnMarker() = default;

    EcnMarker(const EcnConfig& config, double rateBps, RandomSource& random)
        : m_enabled(config.enabled),
          m_kmin(config.kminBytes * rateBps / config.atRateBps),
          m_kmax(config.kmaxBytes * rateBps / config.atRateBps),
          m_pmax(config.pmax),
          m_random(&random)
    {
        if (m_kmax > config.mostKmaxBytes)
        {
            m_kmin *= config.mostKmaxBytes / m_kmax;
            m_kmax = config.mostKmaxBytes;
        }
    }

    MarkingThresholds Thresholds() const { return {m_kmin, m_kmax, m_pmax}; }
    void SetThresholds(const MarkingThresholds& thresholds)
    {
        m_kmin = thresholds.kminBytes;
        m_kmax = thresholds.kmaxBytes;
        m_pmax = thresholds.pmax;
    }

    /// Probability of a mark with `queueBytes` left.
    double Probability(uint64_t queueBytes) const
    {
        const auto q = static_cast<double>(queueBytes);
        if (!m_enabled)
        {
            return 0.0;
        }
        if (q > m_kmax)
        {
            return 1.0;
        }
        return q > m_kmin ? m_pmax * (q - m_kmin) / (m_kmax - m_kmin) : 0.0;
    }

    /// Largest queue behind a packet at which nothing is marked; -1 if an empty queue may be.
    int64_t MostUnmarked() const
    {
        constexpr double MORE_THAN_ANY = 1e18;
        const double most = std::min(m_kmin, m_kmax);
        return m_enabled && most < MORE_THAN_ANY
                   ? static_cast<int64_t>(std::floor(std::max(most, -1.0)))
                   : INT64_MAX;
    }

    /// Reports whether `packet`, which leaves `queueBytes` behind, is to be marked now.
    bool Marks(const Packet& packet, uint64_t queueBytes)
    {
        const double p = Probability(queueBytes);
        return p > 0.0 && Decide(packet, p);
    }

  protected:
    /// Decides for Marks() at a probability above 0; false if a packet cannot be marked, or is already.
    virtual bool Decide(const Packet& packet, double probability)
    {
        return IsMarkable(packet) && Hits(probability);
    }

    static bool IsMarkable(const Packet& packet)
    {
        return packet.kind == PacketKind::Data && packet.ecnCapable && !packet.ecnMarked;
    }

    /// Draws a random number only between the thresholds.
    bool Hits(double probability) { return probability >= 1.0 || m_random->Draw() < probability; }

  private:
    bool m_enabled;
    double m_kmin;
    double m_kmax;
    double m_pmax;
    RandomSource* m_random;
};

} // namespace ns3::env::rdma
