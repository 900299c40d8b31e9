// SPDX-License-Identifier: GPL-2.0-or-later
// Meter of one egress port's utilisation, which a packet's one byte of telemetry carries (PINT).
#pragma once

#include "ns3_env/cpp/rdma/link/packet.h"

#include <algorithm>

namespace ns3::env::rdma
{

/// HPCC's utilisation, averaged by the switch (Basat 2020, sec. 4.3 and app. B).
class UtilisationMeter
{
  public:
    /// A packet that asks for it leaves, `queueBytes` behind it; the port has sent `txBytes` before it.
    ///
    ///     U <- (T - tau) / T * U + tau / T * (q / (B T) + bytes / (B tau))
    ///
    /// with tau and bytes since the packet before it that asked, tau at most T.
    ///
    /// \param baseRtt T, the network's largest
    /// \returns U
    double Measure(Picos now, uint64_t txBytes, uint64_t queueBytes, double rateBps, Picos baseRtt)
    {
        const auto tau = static_cast<double>(now - m_lastTime);
        if (tau > 0)
        {
            const double bytesPerPs = rateBps / 8 / static_cast<double>(PS_PER_SECOND); // B
            const auto rtt = static_cast<double>(baseRtt);                              // T
            const double weight = std::min(tau / rtt, 1.0);
            const double queue = static_cast<double>(queueBytes) / (bytesPerPs * rtt);
            const double sent = static_cast<double>(txBytes - m_lastTxBytes) / (bytesPerPs * tau);
            m_utilisation = (1 - weight) * m_utilisation + weight * (queue + sent);
            m_lastTime = now;
            m_lastTxBytes = txBytes;
        }
        return m_utilisation;
    }

    /// Writes a level into a packet's byte, which keeps the largest of the hops that it passes.
    static void Write(Packet& packet, uint32_t level)
    {
        IntRecord& record = packet.intRecords[0];
        if (packet.intHops == 0)
        {
            record = {};
            packet.intHops = 1;
        }
        record.flows = std::max(record.flows, level); // its byte (IntRecord)
    }

  private:
    double m_utilisation{0.0}; ///< U
    Picos m_lastTime{0};
    uint64_t m_lastTxBytes{0};
};

} // namespace ns3::env::rdma
