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
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<Oracle>("rdma::oracle").Reference();
        return tid;
    }

    Scheduling GetScheduling() const override { return Scheduling::LeastRemaining; }

    double GetWindowFloor(const FlowState& flow) const override
    {
        // One packet more than the base RTT's: its ACK is not without length, and windows end with whole packets.
        return flow.Path().bdpBytes + flow.Path().payloadBytes;
    }

    void OnFlowStart(FlowState& flow) override { flow.SetWindow(GetWindowFloor(flow)); }

    void OnAck(FlowState&, const AckSample&) override {}
};

NS_OBJECT_ENSURE_REGISTERED(Oracle);

} // namespace ns3::env::rdma
