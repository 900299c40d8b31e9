// SPDX-License-Identifier: GPL-2.0-or-later
// Reference for completion times: a window of one BDP, ports that know the remaining bytes (pFabric).
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

namespace ns3::env::rdma
{

/// pFabric with known sizes (Alizadeh 2013): the ports decide (Scheduling::LeastRemaining), senders keep them busy.
class Oracle : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    Scheduling GetScheduling() const override { return Scheduling::LeastRemaining; }
    double GetWindowFloor(const FlowState& flow) const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
};

NS_OBJECT_ENSURE_REGISTERED(Oracle);

TypeId
Oracle::GetTypeId()
{
    static TypeId tid = Declaration<Oracle>("rdma::oracle").Reference();
    return tid;
}

double
Oracle::GetWindowFloor(const FlowState& flow) const
{
    // One packet more than the base RTT's: its ACK is not without length, and windows end with whole packets.
    return flow.Path().bdpBytes + flow.Path().payloadBytes;
}

void
Oracle::OnFlowStart(FlowState& flow)
{
    flow.SetWindow(GetWindowFloor(flow));
}

void
Oracle::OnAck(FlowState&, const AckSample&)
{
}

} // namespace ns3::env::rdma
