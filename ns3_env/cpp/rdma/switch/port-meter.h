// SPDX-License-Identifier: GPL-2.0-or-later
// A switch's port as its agent observes and sets it.
#pragma once

#include "switch.h"

#include "ns3_env/cpp/engine/marking-port.h"
#include "ns3_env/cpp/events/now.h"

#include <cstdint>

namespace ns3::env::rdma
{

/// Counts queue and marks of one port by its trace sources; ports without an agent pay nothing.
class PortMeter final : public MarkingPort
{
  public:
    /// `port` must outlive this.
    explicit PortMeter(SwitchPort& port)
        : m_port(port)
    {
        port.TraceConnectWithoutContext("QueueBytes", MakeCallback(&PortMeter::OnQueue, this));
        port.TraceConnectWithoutContext("Mark", MakeCallback(&PortMeter::OnMark, this));
    }

    PortMeter(PortMeter&&) = delete;

    double RateBps() const override { return m_port.RateBps(); }
    uint64_t TxBytes() const override { return m_port.TxBytes(); }
    uint64_t MarkedBytes() const override { return m_markedBytes; }
    uint64_t QueueBytes() const override { return m_port.QueueBytes(); }
    double QueueArea(Picos now) const override
    {
        return m_area + static_cast<double>(m_queueBytes) * static_cast<double>(now - m_since);
    }

    MarkingThresholds Thresholds() const override { return m_port.Thresholds(); }
    void SetThresholds(const MarkingThresholds& thresholds) override
    {
        m_port.SetThresholds(thresholds);
    }

  private:
    void OnQueue(uint64_t bytes)
    {
        const Picos now = NowPicos();
        m_area = QueueArea(now);
        m_since = now;
        m_queueBytes = bytes;
    }
    void OnMark(const Packet& packet) { m_markedBytes += packet.wireBytes; }

    SwitchPort& m_port;
    uint64_t m_markedBytes{0};
    double m_area{0}; ///< up to m_since
    Picos m_since{0};
    uint64_t m_queueBytes{0}; ///< since then
};

} // namespace ns3::env::rdma
