// SPDX-License-Identifier: GPL-2.0-or-later
// Example of a minimal controller: AIMD on ECN marks (docs/extending.md).
#include "aimd.h"

#include "ns3/double.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Aimd);

TypeId
Aimd::GetTypeId()
{
    static TypeId tid = TypeId("rdma::aimd") // "aimd" to users
                            .SetParent<CongestionControl>()
                            .SetGroupName("Rdma")
                            .AddConstructor<Aimd>()
                            .AddAttribute("Increase",
                                          "Packets added per window without a mark.",
                                          DoubleValue(1.0),
                                          MakeDoubleAccessor(&Aimd::m_increasePackets),
                                          MakeDoubleChecker<double>(0.0))
                            .AddAttribute("Decrease",
                                          "Share of the window that a mark costs.",
                                          DoubleValue(0.5),
                                          MakeDoubleAccessor(&Aimd::m_decrease),
                                          MakeDoubleChecker<double>(0.0, 1.0))
                            .AddTraceSource("CutFromBytes",
                                            "The window that the last mark cut.",
                                            MakeTraceSourceAccessor(&Aimd::m_cutFromBytes),
                                            "ns3::TracedValueCallback::Double");
    return tid;
}

EcnConfig
Aimd::GetEcnConfig() const
{
    // DCTCP's one threshold: 30 kB at 10 Gb/s, in proportion at other rates
    return {.enabled = true, .kminBytes = 30e3, .kmaxBytes = 30e3, .pmax = 1.0, .atRateBps = 10e9};
}

void
Aimd::OnFlowStart(FlowState& flow)
{
    flow.SetWindow(LargestWindow(flow.Path()));
}

double
Aimd::LargestWindow(const PathFacts& path)
{
    // line rate; a packet if the path's BDP is less
    return std::max<double>(path.payloadBytes, path.bdpBytes);
}

void
Aimd::OnAck(FlowState& flow, const AckSample& ack)
{
    const double packet = flow.Path().payloadBytes;
    const double window = flow.WindowBytes();
    if (!ack.ecnMarked)
    {
        const double grown = window + m_increasePackets * packet * ack.newlyAckedBytes / window;
        flow.SetWindow(std::min(LargestWindow(flow.Path()), grown));
    }
    else if (ack.ackedBytes > m_cutUntil)
    {
        m_cutUntil = flow.SentBytes();
        m_cutFromBytes.Set(window);
        flow.SetWindow(std::max(packet, window * (1 - m_decrease)));
    }
}

} // namespace ns3::env::rdma
