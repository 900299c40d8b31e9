// SPDX-License-Identifier: GPL-2.0-or-later
#include "measurement-window.h"

#include "ns3/simulator.h"
#include "ns3_env/rdma/model/sign-of-life.h"

namespace ns3::rdma
{

MeasurementWindow::MeasurementWindow(Network& network, TimeSpan span)
    : m_network(network),
      m_span(span)
{
    NetworkTraces& traces = network.Traces();
    traces.begin.ConnectWithoutContext(MakeCallback(&MeasurementWindow::OnRunBegins, this));
    traces.ended.ConnectWithoutContext(MakeCallback(&MeasurementWindow::OnRunEnds, this));
}

void
MeasurementWindow::OnRunBegins()
{
    if (m_span.begin == 0)
    {
        Open(); // before anything is sent
    }
    else
    {
        Simulator::Schedule(Time(m_span.begin), &MeasurementWindow::Open, this);
    }
    Simulator::Schedule(Time(m_span.end), &MeasurementWindow::Close, this);
}

void
MeasurementWindow::OnRunEnds()
{
    if (!m_open)
    {
        Open();
    }
    if (!m_closed)
    {
        Close();
    }
}

void
MeasurementWindow::Open()
{
    m_open = true;
    m_receivedBytes = ReceivedSoFar();
    for (const auto& [id, sw] : m_network.Switches())
    {
        for (const auto& port : sw->Ports())
        {
            m_txBytes[{id, port->Index()}] = port->TxBytes();
        }
    }
}

void
MeasurementWindow::Close()
{
    m_closed = true;
    std::vector<uint64_t> received = ReceivedSoFar();
    for (size_t i = 0; i < received.size(); ++i)
    {
        received[i] -= m_receivedBytes[i];
    }
    m_receivedBytes = std::move(received);
    const Picos now = NowPicos();
    for (const auto& [id, sw] : m_network.Switches())
    {
        SignOfLife::Beat();
        for (const auto& port : sw->Ports())
        {
            if (port->Stats() == nullptr)
            {
                continue;
            }
            const std::pair key{id, port->Index()};
            PortCounts counts{port->TxBytes() - m_txBytes.at(key), *port->Stats()};
            if (now < m_span.end)
            {
                counts.queue.Update(0, now);
            }
            counts.queue.Finish(m_span.end);
            m_ports.emplace(key, std::move(counts));
        }
    }
}

std::vector<uint64_t>
MeasurementWindow::ReceivedSoFar() const
{
    const auto& flows = m_network.GetScenario().flows;
    std::vector<uint64_t> received(flows.size(), 0);
    for (size_t i = 0; i < flows.size(); ++i)
    {
        SignOfLife::Beat();
        received[i] = m_network.Records()[i].end >= 0 ? flows[i].flow.sizeBytes : 0;
    }
    for (const QueuePair* flow : m_network.LiveFlows())
    {
        received[flow->Id()] = flow->ReceivedBytes();
    }
    return received;
}

} // namespace ns3::rdma
