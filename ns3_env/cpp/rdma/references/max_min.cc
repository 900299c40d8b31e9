// SPDX-License-Identifier: GPL-2.0-or-later
// Name of the max-min fair fluid (fluid/) among RDMA's controllers.
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

namespace ns3::env::rdma
{

/// No control: flows under it are fluids.
class MaxMin final : public CongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<MaxMin>("rdma::max_min").Reference();
        return tid;
    }

    void OnAck(FlowState&, const AckSample&) override {}
};

NS_OBJECT_ENSURE_REGISTERED(MaxMin);

} // namespace ns3::env::rdma
