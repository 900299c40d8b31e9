// SPDX-License-Identifier: GPL-2.0-or-later
// Meter of one egress port's utilisation, which a packet's one byte of telemetry carries (PINT).
#pragma once

#include "ns3_env/cpp/rdma/link/packet.h"

namespace ns3::env::rdma
{

/// HPCC's utilisation, averaged by the switch (Basat 2020, sec. 4.3 and app. B).
class UtilisationMeter
{
  public:
    /// A packet that asks for it leaves, `queueBytes` behind it; the port has sent `txBytes` before it.
    ///
    /// U <- (T - tau) / T * U + tau / T * (q / (B T) + bytes / (B tau))
    ///
    /// with tau and bytes since the packet before it that asked, tau at most T.
    ///
    /// \param baseRtt T, the network's largest
    /// \returns U
    double Measure(Picos now, uint64_t txBytes, uint64_t queueBytes, double rateBps, Picos baseRtt);

    /// Writes a level into a packet's byte, which keeps the largest of the hops that it passes.
    static void Write(Packet& packet, uint32_t level);

  private:
    double m_utilisation{0.0}; ///< U
    Picos m_lastTime{0};
    uint64_t m_lastTxBytes{0};
};

} // namespace ns3::env::rdma
