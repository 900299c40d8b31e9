// SPDX-License-Identifier: GPL-2.0-or-later
// A switch's port as its agent observes and sets it.
#include "port-meter.h"

#include "ns3_env/cpp/events/now.h"

namespace ns3::env::rdma
{

PortMeter::PortMeter(SwitchPort& port)
    : m_port(port)
{
    port.TraceConnectWithoutContext("QueueBytes", MakeCallback(&PortMeter::OnQueue, this));
    port.TraceConnectWithoutContext("Mark", MakeCallback(&PortMeter::OnMark, this));
}

void
PortMeter::OnQueue(uint64_t bytes)
{
    const Picos now = NowPicos();
    m_area = QueueArea(now);
    m_since = now;
    m_queueBytes = bytes;
}

} // namespace ns3::env::rdma
