// SPDX-License-Identifier: GPL-2.0-or-later
// Open-loop controller: line rate under a constant window, or without a window.
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

namespace ns3::env::rdma
{

/// Open loop (Zheng 2024, Figs. 3.2 to 3.5): line rate, at most a constant window in flight.
class FixedWindow : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    double GetWindowFloor(const FlowState& flow) const override
    {
        const double window = Window(flow);
        return window > 0.0 ? window : CongestionControl::GetWindowFloor(flow);
    }

    void OnFlowStart(FlowState& flow) override
    {
        if (const double window = Window(flow); window > 0.0)
        {
            flow.SetWindow(window);
        }
    }

    void OnAck(FlowState&, const AckSample&) override {}

  private:
    /// Window in bytes of payload; 0 without one.
    double Window(const FlowState& flow) const
    {
        return m_windowBytes > 0.0 ? m_windowBytes : m_windowBdps * flow.Path().bdpBytes;
    }

    double m_windowBytes; ///< attribute Window
    double m_windowBdps;  ///< attribute WindowBdp
};

NS_OBJECT_ENSURE_REGISTERED(FixedWindow);

TypeId
FixedWindow::GetTypeId()
{
    static TypeId tid =
        Declaration<FixedWindow>("rdma::fixed-window")
            .Number("Window",
                    "Bytes in flight at most; 0 for no window: line rate, no control at all.",
                    &FixedWindow::m_windowBytes,
                    {0.0, 0.0, 1e12})
            .Number("WindowBdp",
                    "The window in BDPs of the flow's own path (its link's rate x base RTT), where "
                    "Window is 0; 0 for none.",
                    &FixedWindow::m_windowBdps,
                    {0.0, 0.0, 1e6});
    return tid;
}

} // namespace ns3::env::rdma
