// SPDX-License-Identifier: GPL-2.0-or-later
// PowerTCP controller, by the power of the hops on a flow's path (Addanki 2022, Algorithm 1).
#include "power-control.h"

#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/rdma/telemetry/hop-history.h"

namespace ns3::env::rdma
{

/// PowerTCP with in-band telemetry, with HPCC's header (Addanki 2022, sec. 3.6).
class PowerTcp : public PowerControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<PowerTcp, PowerControl>("rdma::powertcp");
        return tid;
    }

    IntRequest GetIntRequest() const override
    {
        return {.wireBytes = 42, .hopRecords = true, .quantised = true};
    }

    void OnAck(FlowState& flow, const AckSample& ack) override
    {
        if (ack.hops.empty())
        {
            return;
        }
        if (!m_last.Matches(ack))
        {
            m_last.Store(ack);
            return;
        }
        if (MeasurePower(flow.Path(), ack))
        {
            UpdateWindow(flow);
            m_last.Store(ack);
            RememberWindow(flow);
        }
    }

  private:
    /// NORMPOWER: of the hop where it is largest; false if the records show nothing.
    bool MeasurePower(const PathFacts& path, const AckSample& ack)
    {
        const double tau =
            static_cast<double>(path.maxBaseRtt) / static_cast<double>(PS_PER_SECOND);
        double power = 0.0;
        int64_t intervalNs = 0;
        for (size_t i = 0; i < m_last.Count(); ++i) // lines 10 to 23
        {
            const IntRecord& hop = ack.hops[i];
            const IntRecord& last = m_last[i];
            const int64_t dt = hop.timeNs - last.timeNs;
            if (dt <= 0 || hop.rateBps == 0)
            {
                continue; // a reordered, repeated or empty record is no measurement
            }
            const double seconds = static_cast<double>(dt) * 1e-9;
            const double bytesPerSecond = static_cast<double>(hop.rateBps) / 8;
            const double grown = static_cast<double>(hop.queueBytes) - last.queueBytes;
            const auto sent = static_cast<double>(static_cast<int64_t>(hop.txBytes - last.txBytes));
            // eq. 6: current over b, and voltage over b tau
            const double current = (grown + sent) / (bytesPerSecond * seconds);
            const double voltage = 1 + static_cast<double>(hop.queueBytes) / (bytesPerSecond * tau);
            if (intervalNs == 0 || current * voltage > power)
            {
                power = current * voltage; // line 19: over e = b^2 tau
                intervalNs = dt;
            }
        }
        if (intervalNs == 0)
        {
            return false;
        }
        Smooth(path, power, std::min(intervalNs, ToNanos(path.maxBaseRtt)) * PS_PER_NS);
        return true;
    }

    HopHistory m_last; ///< prevInt
};

NS_OBJECT_ENSURE_REGISTERED(PowerTcp);

} // namespace ns3::env::rdma
