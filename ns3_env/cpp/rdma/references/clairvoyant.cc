// SPDX-License-Identifier: GPL-2.0-or-later
// References for end hosts: senders that know all live flows without delay.
#include "clairvoyant.h"

#include "ns3_env/cpp/contract/declaration.h"

namespace ns3::env::rdma
{

namespace
{

constexpr double LEAST_SHARE = 1e-6; ///< of a host's link; less is rounding, and no rate

/// The same in another order.
template <Order ORDER>
class ClairvoyantIn final : public Clairvoyant
{
  public:
    static TypeId GetTypeId()
    {
        constexpr auto NAME =
            ORDER == Order::Fair ? "rdma::clairvoyant-fair" : "rdma::clairvoyant-slowdown";
        static TypeId tid = Declaration<ClairvoyantIn, Clairvoyant>(NAME).EndHostReference();
        return tid;
    }

    Order GetOrder() const override { return ORDER; }
};

using ClairvoyantFair = ClairvoyantIn<Order::Fair>;
using ClairvoyantSlowdown = ClairvoyantIn<Order::Slowdown>;

NS_OBJECT_ENSURE_REGISTERED(Clairvoyant);
NS_OBJECT_ENSURE_REGISTERED(ClairvoyantFair);
NS_OBJECT_ENSURE_REGISTERED(ClairvoyantSlowdown);

} // namespace

TypeId
Clairvoyant::GetTypeId()
{
    static TypeId tid = Declaration<Clairvoyant>("rdma::clairvoyant")
                            .EndHostReference()
                            .Number("WindowBdp",
                                    "Bytes in flight at most, in products of a flow's rate and its "
                                    "base RTT.",
                                    &Clairvoyant::m_windowBdp,
                                    {1.1, 0.01, 1e3});
    return tid;
}

double
Clairvoyant::GetRateFloor(const FlowState& flow) const
{
    return flow.Path().hostRateBps * LEAST_SHARE;
}

void
Clairvoyant::Join(FlowSchedule& schedule, Flow& flow)
{
    m_schedule = &schedule;
    m_flow = &flow;
}

void
Clairvoyant::OnFlowStart(FlowState& flow)
{
    flow.SetWindow(WindowOf(flow.Path(), flow.Path().hostRateBps));
    if (m_flow != nullptr)
    {
        m_flow->SetHeld(true); // until the schedule lets it send, at this instant or later
    }
}

void
Clairvoyant::Allow(Flow& flow, double bps) const
{
    const bool waits = bps < GetRateFloor(flow);
    if (!waits)
    {
        flow.SetRateAndRepace(bps);
        flow.SetWindow(WindowOf(flow.Path(), bps));
    }
    flow.SetHeld(waits);
    flow.WindowAndRateWritten();
}

void
Clairvoyant::OnPacketSent(FlowState& flow, Picos, uint32_t)
{
    if (m_schedule != nullptr && flow.SentBytes() == flow.SizeBytes())
    {
        m_schedule->Change();
    }
}

void
Clairvoyant::OnAck(FlowState&, const AckSample&)
{
}

void
Clairvoyant::OnNack(FlowState&, Picos)
{
    if (m_schedule != nullptr)
    {
        m_schedule->Change();
    }
}

} // namespace ns3::env::rdma
