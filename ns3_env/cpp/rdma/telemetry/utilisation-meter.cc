// SPDX-License-Identifier: GPL-2.0-or-later
// Meter of one egress port's utilisation, which a packet's one byte of telemetry carries (PINT).
#include "utilisation-meter.h"

#include <algorithm>

namespace ns3::env::rdma
{

double
UtilisationMeter::Measure(Picos now,
                          uint64_t txBytes,
                          uint64_t queueBytes,
                          double rateBps,
                          Picos baseRtt)
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

void
UtilisationMeter::Write(Packet& packet, uint32_t level)
{
    IntRecord& record = packet.intRecords[0];
    if (packet.intHops == 0)
    {
        record = {};
        packet.intHops = 1;
    }
    record.flows = std::max(record.flows, level); // its byte (IntRecord)
}

} // namespace ns3::env::rdma
