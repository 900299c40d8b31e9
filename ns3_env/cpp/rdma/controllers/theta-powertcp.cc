// SPDX-License-Identifier: GPL-2.0-or-later
// PowerTCP controller by delay only: power from the RTT and its gradient (Addanki 2022, Algorithm 2).
#include "power-control.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>

namespace ns3::env::rdma
{

/// theta-PowerTCP. It takes the bottleneck's throughput for its rate (eq. 8), so an idle link has power 1 to it, and a
/// lower power is a queue that empties: by sec. 3.5 it never increases by multiplication. Algorithm 2 as it is printed
/// does, and opens all windows whenever a large queue has emptied (attribute MultiplicativeIncrease).
class ThetaPowerTcp : public PowerControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<ThetaPowerTcp, PowerControl>("rdma::theta-powertcp")
                                .Flag("MultiplicativeIncrease",
                                      "Whether a power below 1 counts, as in Algorithm 2; "
                                      "otherwise it is 1, as sec. 3.5 describes it.",
                                      &ThetaPowerTcp::m_multiplicativeIncrease,
                                      false);
        return tid;
    }

    IntRequest GetIntRequest() const override { return {.wireBytes = 8}; } // the sender's timestamp

    void OnFlowStart(FlowState& flow) override
    {
        PowerControl::OnFlowStart(flow);
        m_lastTime = flow.StartTime();
        m_lastRtt = flow.Path().baseRtt;
    }

    void OnAck(FlowState& flow, const AckSample& ack) override
    {
        const PathFacts& path = flow.Path();
        const Picos dt = ack.now - m_lastTime;
        if (dt > 0)
        {
            const double gradient =
                static_cast<double>(ack.rtt - m_lastRtt) / static_cast<double>(dt);
            // line 12, of which eq. 8 is the inverse; tau is this path's, as a shorter one waits less
            const double power =
                (gradient + 1) * static_cast<double>(ack.rtt) / static_cast<double>(path.baseRtt);
            Smooth(path, m_multiplicativeIncrease ? power : std::max(power, 1.0), dt);
            m_lastTime = ack.now;
            m_lastRtt = ack.rtt;
        }
        if (flow.AckedBytes() > m_updatedUntil) // lines 16 to 22: once per round trip
        {
            UpdateWindow(flow);
            m_updatedUntil = std::max(m_updatedUntil, flow.SentBytes());
            RememberWindow(flow);
        }
    }

  private:
    bool m_multiplicativeIncrease; ///< attribute MultiplicativeIncrease

    Picos m_lastTime{0}; ///< t_c^prev
    Picos m_lastRtt{0};  ///< prevRTT
    uint64_t m_updatedUntil{0};
};

NS_OBJECT_ENSURE_REGISTERED(ThetaPowerTcp);

} // namespace ns3::env::rdma
