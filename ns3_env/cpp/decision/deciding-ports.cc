// SPDX-License-Identifier: GPL-2.0-or-later
// The ports of switches whose ECN thresholds a policy across the channel sets (Yan et al. 2021, ACC).
#include "deciding-ports.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>

namespace ns3::env
{

DecidingPort::DecidingPort(MarkingPort& port, uint32_t number, Picos interval)
    : m_port(port),
      m_number(number),
      m_interval(interval)
{
}

DecisionRow
DecidingPort::MakeRow(Picos now, uint32_t end)
{
    DecisionRow row;
    row.flow = m_number;
    row.slot = static_cast<int32_t>(m_number);
    row.kind = RowKind::Port;
    row.flags = end | (m_since < 0 ? static_cast<uint32_t>(ROW_FIRST) : 0U);
    const uint64_t sent = m_port.TxBytes();
    const uint64_t marked = m_port.MarkedBytes();
    const double area = m_port.QueueArea(now);
    const double elapsed = static_cast<double>(now - std::max<Picos>(m_since, 0)); // ps
    if (elapsed > 0)
    {
        const double most = m_port.RateBps() * elapsed / (8.0 * PS_PER_SECOND); // bytes on the link
        row.record[Field::PortUtilisation] = static_cast<double>(sent - m_txBytes) / most;
        row.record[Field::PortMarked] = static_cast<double>(marked - m_markedBytes) / most;
        row.record[Field::PortMeanQueueBytes] = (area - m_queueArea) / elapsed;
    }
    const MarkingThresholds thresholds = m_port.Thresholds();
    row.record[Field::PortQueueBytes] = static_cast<double>(m_port.QueueBytes());
    row.record[Field::PortRateBps] = m_port.RateBps();
    row.record[Field::PortKminBytes] = thresholds.kminBytes;
    row.record[Field::PortKmaxBytes] = thresholds.kmaxBytes;
    row.record[Field::PortPmax] = thresholds.pmax;
    row.record[Field::TimeNs] = static_cast<double>(now) / PS_PER_NS;
    row.record[Field::IntervalNs] = elapsed / PS_PER_NS;
    row.record[Field::BaseRttNs] = static_cast<double>(m_interval) / PS_PER_NS;
    m_since = now;
    m_txBytes = sent;
    m_markedBytes = marked;
    m_queueArea = area;
    return row;
}

void
DecidingPort::Apply(const ActionRow& action)
{
    m_port.SetThresholds(AsThresholds(action));
}

DecidingPorts::DecidingPorts(Decider& decider, std::span<MarkingPort* const> ports, Picos interval)
    : m_broker(decider, Picos{0}, false),
      m_interval(interval)
{
    for (MarkingPort* port : ports)
    {
        m_ports.emplace_back(*port, static_cast<uint32_t>(m_ports.size()), interval);
    }
}

void
DecidingPorts::Begin()
{
    Simulator::ScheduleNow(&DecidingPorts::Tick, this);
}

void
DecidingPorts::Tick()
{
    for (DecidingPort& port : m_ports)
    {
        m_broker.RequestDecision(port, NowPicos());
    }
    m_broker.Flush();
    Simulator::Schedule(Time(m_interval), &DecidingPorts::Tick, this);
}

void
DecidingPorts::CutAll(Picos now)
{
    for (DecidingPort& port : m_ports)
    {
        m_broker.ReportEnd(port, ROW_TRUNCATED, now);
    }
}

} // namespace ns3::env
