// SPDX-License-Identifier: GPL-2.0-or-later
#include "event-log.h"

namespace ns3::rdma
{

EventLog::EventLog(const Network& network)
{
    for (Port* port : network.Ports())
    {
        port->TraceConnectWithoutContext(
            "Pause",
            MakeBoundCallback(&EventLog::OnPause, this, static_cast<const Port*>(port)));
    }
    for (const auto& [id, sw] : network.Switches())
    {
        for (const auto& port : sw->Ports())
        {
            port->TraceConnectWithoutContext("Mark", MakeCallback(&EventLog::OnMark, this));
        }
    }
}

void
EventLog::OnMark(const Packet& packet)
{
    m_marks.push_back({NowPicos(), packet.flow->Id()});
}

void
EventLog::OnPause(EventLog* log, const Port* port, bool paused)
{
    log->m_pauses.push_back({NowPicos(), port->NodeId(), port->Index(), paused});
}

} // namespace ns3::rdma
