// SPDX-License-Identifier: GPL-2.0-or-later
// DCTCP controller of an RDMA flow, by the fraction of marked packets in a window.
#include "dctcp.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Dctcp);

TypeId
Dctcp::GetTypeId()
{
    static TypeId tid =
        Declaration<Dctcp>("rdma::dctcp")
            .Number("Gain",
                    "Weight g of a window's fraction of marks in alpha.",
                    &Dctcp::m_gain,
                    {1.0 / 16, 0.0, 1.0})
            .Number("AdditiveIncrease",
                    "Rate added per window, as a fraction of the host's link rate "
                    "(615 Mb/s at 100 Gb/s).",
                    &Dctcp::m_increaseFraction,
                    {6.15e-3, 0.0, 1.0})
            .Flag("PacketIncrease",
                  "Adds one payload per window instead, a payload per base RTT to the rate.",
                  &Dctcp::m_packetIncrease,
                  false)
            .State("Alpha", "Average fraction of marked packets in a window.", &Dctcp::m_alpha);
    return tid;
}

EcnConfig
Dctcp::GetEcnConfig() const
{
    // one threshold K (docs/sources/published-simulator.md, "Switch")
    return {.enabled = true, .kminBytes = 30e3, .kmaxBytes = 30e3, .pmax = 1.0, .atRateBps = 10e9};
}

void
Dctcp::Apply(FlowState& flow, double rateBps) const
{
    flow.SetRate(rateBps);
    flow.SetWindow(flow.Path().WindowAt(rateBps));
}

bool
Dctcp::BeginsWindow(const FlowState& flow)
{
    if (flow.AckedBytes() <= m_windowEnd)
    {
        return false;
    }
    const uint64_t payload = flow.Path().payloadBytes;
    if (m_windowEnd == 0) // the first window has no end to measure against
    {
        m_windowPackets = flow.SentBytes() / payload + 1;
    }
    else
    {
        // alpha = (1 - g) alpha + g min(1, marks / packets)
        const double fraction =
            std::min(1.0, static_cast<double>(m_marks) / static_cast<double>(m_windowPackets));
        m_alpha.Set((1 - m_gain) * m_alpha.Get() + m_gain * fraction);
        m_marks = 0;
        m_windowPackets = (flow.SentBytes() - flow.AckedBytes()) / payload + 1;
    }
    m_windowEnd = flow.SentBytes();
    return true;
}

void
Dctcp::OnAck(FlowState& flow, const AckSample& ack)
{
    const PathFacts& path = flow.Path();
    m_marks += ack.ecnMarked ? 1 : 0;
    const bool newWindow = BeginsWindow(flow);
    if (m_reduced && flow.AckedBytes() > m_reducedUntil)
    {
        m_reduced = false;
    }
    double rate = flow.RateBps();
    if (ack.ecnMarked && !m_reduced)
    {
        rate = std::max(path.minRateBps, rate * (1 - m_alpha.Get() / 2)); // once per window
        m_reduced = true;
        m_reducedUntil = flow.SentBytes();
    }
    if (newWindow && !m_reduced)
    {
        const double increase = m_packetIncrease
                                    ? path.payloadBytes * 8e12 / static_cast<double>(path.baseRtt)
                                    : m_increaseFraction * path.hostRateBps;
        rate = std::min(path.hostRateBps, rate + increase);
    }
    Apply(flow, rate);
}

} // namespace ns3::env::rdma
