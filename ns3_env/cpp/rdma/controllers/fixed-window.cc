// SPDX-License-Identifier: GPL-2.0-or-later
// Open-loop controller: line rate under a constant window, or none.
#include "fixed-window.h"

#include "ns3/double.h"

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FixedWindow);

TypeId
FixedWindow::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::fixed-window")
            .SetParent<CongestionControl>()
            .SetGroupName("Rdma")
            .AddConstructor<FixedWindow>()
            .AddAttribute("Window",
                          "Bytes in flight at most; 0 for no window: line rate, no control at all.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&FixedWindow::m_windowBytes),
                          MakeDoubleChecker<double>(0.0, 1e12))
            .AddAttribute(
                "WindowBdp",
                "The window in BDPs of the flow's own path (its link's rate x base RTT), where "
                "Window is 0; 0 for none.",
                DoubleValue(0.0),
                MakeDoubleAccessor(&FixedWindow::m_windowBdps),
                MakeDoubleChecker<double>(0.0, 1e6));
    return tid;
}

double
FixedWindow::Window(const FlowState& flow) const
{
    return m_windowBytes > 0.0 ? m_windowBytes : m_windowBdps * flow.Path().bdpBytes;
}

double
FixedWindow::GetWindowFloor(const FlowState& flow) const
{
    const double window = Window(flow);
    return window > 0.0 ? window : CongestionControl::GetWindowFloor(flow);
}

void
FixedWindow::OnFlowStart(FlowState& flow)
{
    if (const double window = Window(flow); window > 0.0)
    {
        flow.SetWindow(window);
    }
}

void
FixedWindow::OnAck(FlowState&, const AckSample&)
{
}

} // namespace ns3::env::rdma
